import * as z from 'zod/mini';
import { dnsLabel, flag, integer, list, oneOf, text, withDefault } from '../../lib/function/config.ts';
import { parseSelector } from '../../lib/kube/selector.ts';
import { parseTarget } from './host.ts';
import { renderModes } from './render.ts';

const objectName = {
  test: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  says: 'must be the name of an object (a-z, 0-9, -, .)',
};
const dataKey = { test: /^[-_a-zA-Z0-9]{1,200}\.[a-zA-Z0-9]{1,20}$/, says: 'must be a file name with an extension' };
const domain = { test: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, says: 'must be domains such as example.com' };
const annotationKey = {
  test: /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/,
  says: 'must be the key of an annotation',
};
const anything = { test: /^/, says: '' };
const path = { test: /^\/[-_./a-zA-Z0-9]+$/, says: 'must be an absolute path' };

/** Lists like `EXCLUDE_INGRESSES` come from charts in which half-written entries are common; those mean nothing. */
function names(about: string, example: string): ReturnType<typeof list> {
  return list({ about, example, item: anything });
}

function target(about: string): z.ZodMiniString {
  const example = 'ingress-nginx-controller.ingress-nginx.svc.cluster.local.';
  return text({ about, example }).check(z.refine((value) => parseTarget(value) !== undefined, 'must be a DNS name'));
}

/** A JSON list of `{<key>, targetCNAME}`: one bad entry spoils all of it, since a wrong target would be served. */
function mappings(key: string, about: string): z.ZodMiniType<readonly ClassMapping[], string> {
  const says = `must be a JSON list of {"${key}": …, "targetCNAME": …} with valid targets`;
  const example = `[{"${key}":"nginx","targetCNAME":"ingress-nginx-controller.ingress-nginx.svc.cluster.local."}]`;
  const parsed = z.pipe(
    z.string(),
    z.transform((value: string, context) => {
      const found = parseMappings(value, key);
      if (found === undefined) {
        context.issues.push({ code: 'custom', message: says, input: value });
        return z.NEVER;
      }
      return found;
    }),
  );
  return parsed.register(z.globalRegistry, { about, example });
}

export interface ClassMapping {
  readonly className: string;
  /** Fully qualified, with its trailing dot. */
  readonly target: string;
}

function parseMappings(value: string, key: string): readonly ClassMapping[] | undefined {
  try {
    const entries: unknown = JSON.parse(value);
    if (!Array.isArray(entries) || entries.length === 0) {
      return undefined;
    }
    const found = entries.map((entry: unknown) => parseMapping(entry, key));
    return found.every((mapping) => mapping !== undefined) ? found : undefined;
  } catch {
    return undefined;
  }
}

function parseMapping(entry: unknown, key: string): ClassMapping | undefined {
  const { [key]: className, targetCNAME } = (entry ?? {}) as Record<string, unknown>;
  const target = typeof targetCNAME === 'string' ? parseTarget(targetCNAME) : undefined;
  return typeof className === 'string' && objectName.test.test(className) && target !== undefined
    ? { className, target }
    : undefined;
}

function isSelector(value: string): boolean {
  try {
    parseSelector(value);
    return true;
  } catch {
    return false;
  }
}

const sources = {
  INGRESS_CLASS_MAPPINGS: z.optional(mappings('ingressClass', 'which class leads where; the first of a class counts')),
  INGRESS_CLASS: withDefault(
    text({ about: 'the class, when there is one', example: 'nginx', pattern: objectName }),
    'nginx',
  ),
  TARGET_CNAME: withDefault(
    target('where that class leads'),
    'ingress-nginx-controller.ingress-nginx.svc.cluster.local.',
  ),
  GATEWAY_CLASS_MAPPINGS: z.optional(mappings('gatewayClass', 'the same for Gateway API; unset leaves it alone')),
  GATEWAY_CLASS: z.optional(
    text({ about: 'the class of Gateways, when there is one', example: 'istio', pattern: objectName }),
  ),
  GATEWAY_TARGET_CNAME: z.optional(target('where that class leads')),
  INGRESSROUTE_TARGET_CNAME: z.optional(target("where Traefik's IngressRoutes lead; unset leaves them alone")),
  WATCH_NAMESPACES: withDefault(names('namespaces to look at; empty for all', 'shop,blog'), []),
  EXCLUDE_NAMESPACES: withDefault(names('namespaces to leave out', 'test'), []),
  NAMESPACE_SELECTOR: z.optional(
    text({ about: 'labels of the namespaces to look at', example: 'dns=internal' }).check(
      z.refine(isSelector, 'must be a label selector'),
    ),
  ),
  EXCLUDE_INGRESSES: withDefault(names('Ingresses to leave out, by name or namespace/name', 'legacy,prod/x'), []),
  EXCLUDE_HTTPROUTES: withDefault(names('the same for routes of Gateway API', 'legacy,prod/x'), []),
  EXCLUDE_INGRESSROUTES: withDefault(names("the same for Traefik's IngressRoutes", 'legacy,prod/x'), []),
  ANNOTATION_ENABLED_KEY: withDefault(
    text({
      about: 'annotation that takes an object out',
      example: 'coredns-ingress-sync-enabled',
      pattern: annotationKey,
    }),
    'coredns-ingress-sync-enabled',
  ),
  ANNOTATION_PRIORITY_KEY: withDefault(
    text({
      about: 'annotation that ranks an object',
      example: 'coredns-ingress-sync-priority',
      pattern: annotationKey,
    }),
    'coredns-ingress-sync-priority',
  ),
  PRIORITY_NAMESPACES: withDefault(
    names('namespaces whose objects may rank themselves; empty for all', 'platform'),
    [],
  ),
  OPT_IN: withDefault(flag({ about: 'only objects that say so count' }), false),
  LEGACY_CLASS_ANNOTATION: withDefault(flag({ about: 'the annotation kubernetes.io/ingress.class counts' }), true),
  UNCLASSED: withDefault(oneOf(['ignore', 'default'], { about: 'what an Ingress without class belongs to' }), 'ignore'),
  INCLUDE_TLS_HOSTS: withDefault(flag({ about: 'hosts of the tls section count too' }), false),
  DROP_TERMINATING: withDefault(flag({ about: 'objects that are being deleted no longer count' }), false),
};

const hosts = {
  DOMAIN_FILTER: withDefault(
    list({ about: 'domains that may be claimed; empty for all', example: 'example.com', item: domain }),
    [],
  ),
  EXCLUDE_DOMAINS: withDefault(list({ about: 'domains that may not', example: 'corp.example.com', item: domain }), []),
  CLUSTER_DOMAIN: withDefault(
    text({ about: "the cluster's own domain", example: 'cluster.local', pattern: domain }),
    'cluster.local',
  ),
  MIN_WILDCARD_LABELS: withDefault(
    integer({ about: 'labels that a wildcard needs behind its star', example: '2', min: 1, max: 10 }),
    2,
  ),
};

const dns = {
  COREDNS_AUTO_CONFIGURE: withDefault(flag({ about: 'let it edit the Corefile and the Deployment' }), false),
  INTEGRATION_MODE: withDefault(
    oneOf(['auto', 'corefile', 'custom-configmap', 'inline', 'none'], { about: 'how CoreDNS gets the rules' }),
    'auto',
  ),
  IMPORT_POSITION: withDefault(
    oneOf(['first', 'last'], { about: 'where in a server block the import stands' }),
    'first',
  ),
  COREDNS_NAMESPACE: withDefault(
    text({ about: 'where CoreDNS runs', example: 'kube-system', pattern: dnsLabel }),
    'kube-system',
  ),
  COREDNS_CONFIGMAP_NAME: withDefault(
    text({ about: 'the ConfigMap with the Corefile', example: 'coredns', pattern: objectName }),
    'coredns',
  ),
  COREDNS_DEPLOYMENT_NAME: withDefault(
    text({ about: 'the Deployment', example: 'coredns', pattern: objectName }),
    'coredns',
  ),
  DYNAMIC_CONFIGMAP_NAME: withDefault(
    text({ about: 'the ConfigMap of the rules', example: 'coredns-ingress-sync-rewrite-rules', pattern: objectName }),
    'coredns-ingress-sync-rewrite-rules',
  ),
  DYNAMIC_CONFIG_KEY: withDefault(
    text({ about: 'its key', example: 'dynamic.server', pattern: dataKey }),
    'dynamic.server',
  ),
  COREDNS_VOLUME_NAME: withDefault(
    text({ about: 'the volume', example: 'coredns-ingress-sync-volume', pattern: dnsLabel }),
    'coredns-ingress-sync-volume',
  ),
  MOUNT_PATH: z.optional(
    text({ about: 'where it is mounted', example: '/etc/coredns/custom/coredns-ingress-sync', pattern: path }),
  ),
  INSTANCE: withDefault(
    text({ about: 'tells installations in one cluster apart', example: 'coredns-ingress-sync', pattern: dnsLabel }),
    'coredns-ingress-sync',
  ),
  NODELOCAL_MODE: withDefault(
    oneOf(['report', 'stubdomains'], { about: 'what to do about NodeLocal DNSCache' }),
    'report',
  ),
};

/** Rules can be in no more ConfigMaps than this, whatever `MAX_SHARDS` is or was. */
export const mostShards = 128;

const writing = {
  RENDER_MODE: withDefault(oneOf(['auto', ...renderModes], { about: 'how rules are written' }), 'auto'),
  EXACT_MAX_HOSTS: withDefault(
    integer({ about: 'hosts up to which auto writes one line each', example: '200', min: 0, max: 100_000 }),
    200,
  ),
  SHARD_BYTES: withDefault(
    integer({ about: 'size from which rules spread over more ConfigMaps', example: '65536', min: 4096, max: 900_000 }),
    65_536,
  ),
  MAX_SHARDS: withDefault(
    integer({
      about: 'ConfigMaps that rules may spread over; a power of two',
      example: '32',
      min: 1,
      max: mostShards,
    }).check(z.refine((value) => Number.isInteger(Math.log2(value)), 'must be a power of two')),
    32,
  ),
  MIN_WRITE_INTERVAL_MS: withDefault(
    integer({ about: 'least time between two writes of a rules ConfigMap', example: '2000', min: 0, max: 600_000 }),
    2000,
  ),
  CONFLICT_RETRIES: withDefault(
    integer({ about: 'how often to start over when others write at the same time', example: '8', min: 1, max: 50 }),
    8,
  ),
  CONFLICT_BUDGET_MS: withDefault(
    integer({ about: 'how long to do so', example: '10000', min: 100, max: 60_000 }),
    10_000,
  ),
  MAX_REMOVAL_PERCENT: withDefault(
    integer({ about: 'share of hosts that one full pass may remove unconfirmed', example: '50', min: 0, max: 100 }),
    50,
  ),
  ALLOW_MASS_REMOVAL: withDefault(flag({ about: 'remove any share at once' }), false),
  MAX_HEALS_PER_HOUR: withDefault(
    integer({ about: 'repairs of the Corefile or Deployment per hour', example: '6', min: 0, max: 1000 }),
    6,
  ),
  ADOPT: withDefault(flag({ about: 'take over a rules ConfigMap that another manager or instance owns' }), false),
  VERIFY_RELOAD: withDefault(
    flag({ about: 'ask the CoreDNS pods how they took the rules, and go back to the last that they took' }),
    false,
  ),
  EMIT_EVENTS: withDefault(flag({ about: 'tell in Kubernetes Events what became of hosts' }), true),
  RENDER_ONLY: withDefault(flag({ about: 'write to a ConfigMap <name>-preview that CoreDNS does not see' }), false),
  TOUCH_PODS: withDefault(
    flag({ about: 'annotate the CoreDNS pods after a write, so that kubelets refresh their volumes at once' }),
    false,
  ),
};

export const Config = z.object({ ...sources, ...hosts, ...dns, ...writing });
export type Config = z.output<typeof Config>;
