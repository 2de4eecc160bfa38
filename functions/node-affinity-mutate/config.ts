import * as z from 'zod/mini';
import { dnsLabel, flag, integer, list, oneOf, text, withDefault } from '../../lib/function/config.ts';
import { labelValue, parseSelector, qualifiedName } from '../../lib/kube/model/selector.ts';
import { functionName } from './names.ts';

export const Config = z.object({
  POOL_NAME: text({
    about: 'value of the pool label: the worker pool that pods should prefer',
    example: 'cpu-worker-0',
    pattern: { test: labelValue, says: 'must be a label value' },
  }).check(z.minLength(1, 'must not be empty')),
  POOL_LABEL_KEY: withDefault(
    text({
      about: 'label by which nodes say which pool they belong to',
      example: 'worker.gardener.cloud/pool',
      pattern: { test: qualifiedName, says: 'must be a label key' },
    }),
    'worker.gardener.cloud/pool',
  ),
  WEIGHT: withDefault(integer({ about: 'weight of the preference', example: '10', min: 1, max: 100 }), 10),
  MANAGED_LABEL: withDefault(
    text({ about: 'labels of the namespaces whose pods are looked at', example: 'team=shop' }).check(
      z.refine(isLabelSelector, 'must be a label selector such as key=value'),
    ),
    'operator.kyma-project.io/managed-by=kyma',
  ),
  OMIT_NAMESPACES: withDefault(
    list({ about: 'never looked at, even when labelled', example: 'kube-system', item: dnsLabel }),
    ['kube-system'],
  ),
  FALLBACK_MODE: withDefault(
    oneOf(['none', 'annotate'], { about: 'what happens to pods while the pool has no nodes' }),
    'none',
  ),
  SKIP_PINNED: withDefault(flag({ about: 'leave pods alone that can run on one node only' }), true),
  EXPLAIN: withDefault(
    oneOf(['audit', 'off', 'annotation', 'both'], { about: 'where to tell what was done to a pod' }),
    'audit',
  ),
  REFRESH_SECONDS: withDefault(
    integer({ about: 'how often admission reads what the events half found out', example: '5', min: 1, max: 3600 }),
    5,
  ),
  POOL_GONE_GRACE_SECONDS: withDefault(
    integer({ about: 'how long a pool counts after its last node vanished', example: '300', min: 0, max: 86_400 }),
    300,
  ),
  STATE_DIR: withDefault(
    text({ about: 'where the state ConfigMap is mounted, for starts without the API server', example: '/state' }),
    '/etc/node-affinity-mutate/state',
  ),
  WEBHOOK_CONFIG_NAME: withDefault(
    text({ about: 'name of the webhook configuration', example: functionName, pattern: dnsLabel }),
    functionName,
  ),
  FAILURE_POLICY: withDefault(
    oneOf(['Ignore', 'Fail'], { about: 'what the API server does with a pod when nobody answers' }),
    'Ignore',
  ),
  WEBHOOK_TIMEOUT_SECONDS: withDefault(
    integer({ about: 'how long the API server waits for an answer', example: '3', min: 1, max: 30 }),
    3,
  ),
  REINVOCATION_POLICY: withDefault(
    oneOf(['IfNeeded', 'Never'], { about: 'whether to be asked again after others changed the pod' }),
    'IfNeeded',
  ),
  MANAGE_WEBHOOK: withDefault(
    oneOf(['caBundle', 'full'], {
      about: 'what to keep right in the webhook configuration: the CA only, or also what the rules ask for',
    }),
    'caBundle',
  ),
  WATCH_NODES: withDefault(flag({ about: 'look at the pool whenever one of its nodes changes' }), false),
  COVERAGE: withDefault(flag({ about: 'count the running pods that were missed' }), false),
  POLICY: withDefault(
    flag({ about: 'keep a MutatingAdmissionPolicy that does the same inside the API server (Kubernetes 1.36)' }),
    false,
  ),
  PARITY_METRICS: withDefault(flag({ about: 'also offer the metrics of kim-snatch' }), false),
});
export type Config = z.output<typeof Config>;

function isLabelSelector(value: string): boolean {
  try {
    const selector = parseSelector(value);
    return selector.length > 0 && selector.every(({ operator }) => operator !== 'gt' && operator !== 'lt');
  } catch {
    return false;
  }
}
