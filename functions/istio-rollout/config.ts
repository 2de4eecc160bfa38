import * as z from 'zod/mini';
import {
  dnsLabel,
  duration,
  flag,
  integer,
  list,
  mayBeEmpty,
  oneOf,
  text,
  withDefault,
} from '../../lib/function/config.ts';
import { parseSelector } from '../../lib/kube/model/selector.ts';
import { parseWindows } from './window.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** A pass that is over still ends what it has begun: a probe, a restart, its report. */
export const timeoutSeconds = 90;

export const driftChecks = [
  'image',
  'missing',
  'revision',
  'mode',
  'initImage',
  'resources',
  'proxyConfig',
  'args',
] as const;
export type DriftCheck = (typeof driftChecks)[number];

/** Checks that look at more of a proxy than every scan does. */
export function looksBeyondImage(checks: readonly DriftCheck[]): boolean {
  return checks.some((check) => !['image', 'missing', 'revision'].includes(check));
}

const namespaceNames = { test: /^(-|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/, says: 'must be namespaces, or - for none' };
const checkNames = { test: new RegExp(`^(${driftChecks.join('|')})$`), says: `must be of ${driftChecks.join(', ')}` };
const annotationName = {
  test: /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  says: 'must be the name of an annotation',
};
/** A name that begins with `kubectl` would hide behind what people do by hand. */
export const managerName = {
  test: /^(?!kubectl)[\x21-\x7e]{1,128}$/,
  says: 'must be a name that does not begin with kubectl',
};
const httpUrl = { test: /^https?:\/\/[^\s]+$/, says: 'must be an http or https URL' };

/** Each option is also a key of the ConfigMap `istio-rollout-config`, as it is here or in camel case. */
export const Config = z.object({
  DRY_RUN: withDefault(flag({ about: 'report only: no workload is touched, no Event is written' }), false),
  COMPARE_HUB: withDefault(flag({ about: 'whether another registry counts as drift' }), false),
  DRIFT_CHECKS: withDefault(
    z.pipe(
      list({ about: 'what counts as drift', example: 'image,missing,revision', item: checkNames }),
      z.transform((names) => names as DriftCheck[]),
    ),
    ['image', 'missing', 'revision'],
  ),
  REMOVE_SIDECARS: withDefault(flag({ about: 'restart what has a sidecar that nobody would inject now' }), false),
  PROBE_MODE: withDefault(
    oneOf(['webhook', 'dryRun'], { about: 'ask the injector itself, or the API server' }),
    'webhook',
  ),
  PROBE_CONCURRENCY: withDefault(integer({ about: 'probes at once', example: '8', min: 1, max: 64 }), 8),
  PROBE_TIMEOUT: withDefault(duration({ about: 'longest wait for one probe', example: '10s' }), 10 * second),

  ISTIO_NAMESPACES: withDefault(
    list({ about: 'where control planes are installed', example: 'istio-system', item: dnsLabel }),
    ['istio-system'],
  ),
  NAMESPACES: withDefault(
    list({ about: 'only these namespaces; empty means all', example: 'shop', item: dnsLabel }),
    [],
  ),
  NAMESPACE_SELECTOR: withDefault(
    text({ about: 'only namespaces with such labels', example: 'team=shop' }).check(
      z.refine((value) => succeeds(() => parseSelector(value)), 'must be a label selector'),
    ),
    '',
  ),
  SKIP_NAMESPACES: mayBeEmpty(
    withDefault(
      list({
        about: 'never these namespaces; empty or - means none',
        example: 'kube-system,istio-system',
        item: namespaceNames,
      }),
      ['kube-system', 'istio-system'],
    ),
  ),

  ISTIOD_CONFIG_READ_DELAY: withDefault(
    duration({ about: 'how long istiod takes to see its new configuration', example: '10s' }),
    10 * second,
  ),
  MAX_DEBOUNCE: withDefault(duration({ about: 'longest delay of a trigger by further ones', example: '60s' }), minute),
  RECONCILE_PERIOD: withDefault(duration({ about: 'time between full scans; 0 means never', example: '1h' }), hour),
  MAX_INVOCATION: withDefault(
    duration({ about: 'longest pass', example: '60s' }).check(
      z.refine(
        (value) => value > 0 && value < timeoutSeconds * second,
        `must be above 0 and below the ${timeoutSeconds}s that a handler has`,
      ),
    ),
    minute,
  ),

  RESTART_ANNOTATION: withDefault(
    text({
      about: 'annotation of the pod template that carries the time of a restart',
      example: 'fortsa.scaffidi.net/restartedAt',
      pattern: annotationName,
    }),
    'istio-rollout.kube-reflex.dev/restartedAt',
  ),
  FIELD_MANAGER: withDefault(
    text({ about: 'owner of that annotation', example: 'istio-rollout', pattern: managerName }),
    'kube-reflex.dev/istio-rollout',
  ),
  RESTART_DELAY: withDefault(duration({ about: 'least time between two restarts', example: '10s' }), 0),
  COOLDOWN: withDefault(duration({ about: 'least time between restarts of one workload', example: '5m' }), 5 * minute),
  MAX_IN_FLIGHT: withDefault(integer({ about: 'rollouts at once', example: '5', min: 1, max: 1000 }), 5),
  MAX_IN_FLIGHT_PER_NAMESPACE: withDefault(
    integer({ about: 'rollouts at once in one namespace', example: '1', min: 1, max: 1000 }),
    1,
  ),
  MAX_IN_FLIGHT_PODS: withDefault(
    integer({ about: 'pods of the rollouts at once; 0 means any number', example: '100', min: 0, max: 1_000_000 }),
    0,
  ),
  FAILURE_THRESHOLD: withDefault(
    integer({ about: 'failed rollouts that pause the run; 0 means never', example: '1', min: 0, max: 1000 }),
    1,
  ),
  ROLLOUT_TIMEOUT: withDefault(duration({ about: 'when a rollout counts as failed', example: '15m' }), 15 * minute),
  MAX_ATTEMPTS: withDefault(
    integer({ about: 'restarts of one workload for the same expected proxy', example: '2', min: 1, max: 100 }),
    2,
  ),
  ALLOW_UNHEALTHY: withDefault(flag({ about: 'restart workloads that are not healthy' }), false),
  WINDOW: withDefault(
    text({ about: 'when restarts may begin; empty means always', example: 'Sat-Sun 00:00-04:00 Europe/Berlin' }).check(
      z.refine(
        (value) => succeeds(() => parseWindows(value)),
        'must be windows such as Mon-Fri 22:00-04:00 Europe/Berlin, separated by ;',
      ),
    ),
    '',
  ),
  FREEZE_URL: withDefault(
    text({
      about: 'asked before each restart; anything but a clear yes is a no',
      example: 'http://freeze/v1/evaluate',
    }).check(z.refine((value) => value === '' || httpUrl.test.test(value), httpUrl.says)),
    '',
  ),
  RESPECT_PDB: withDefault(flag({ about: 'wait while a disruption budget allows no disruption' }), true),
  REQUIRE_ISTIOD_READY: withDefault(flag({ about: 'wait while istiod itself is being rolled out' }), true),
  UNMANAGED_ACTION: withDefault(
    oneOf(['report', 'evict'], {
      about: 'what to do with outdated pods of a bare ReplicaSet or ReplicationController',
    }),
    'report',
  ),
  ON_DELETE_ACTION: withDefault(
    oneOf(['report', 'evict'], { about: 'what to do with outdated workloads that replace pods on deletion only' }),
    'report',
  ),
  GATEWAY_ORDER: withDefault(oneOf(['last', 'first'], { about: 'when gateways are restarted' }), 'last'),
  ARGO_ROLLOUTS: withDefault(flag({ about: 'restart Argo Rollouts too, where the cluster has them' }), true),
  EVENTS_ENABLED: withDefault(flag({ about: 'write Kubernetes Events about workloads' }), true),
});
export type Config = z.output<typeof Config>;

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
