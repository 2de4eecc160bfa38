import * as z from 'zod/mini';
import { flag, integer, list, oneOf, text, withDefault } from '../../../lib/function/config.ts';
import { parseSelector } from '../../../lib/kube/model/selector.ts';
import { mappings, soundClass, target } from './mapping.ts';
import { objectName } from './object-name.ts';

const domain = { test: objectName.test, says: 'must be domains such as example.com' };
const annotationKey = {
  test: /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/,
  says: 'must be the key of an annotation',
};
const anything = { test: /^/, says: '' };

/** Lists like `EXCLUDE_INGRESSES` come from charts in which half-written entries are common; those mean nothing. */
function names(about: string, example: string): ReturnType<typeof list> {
  return list({ about, example, item: anything });
}

function isSelector(value: string): boolean {
  try {
    parseSelector(value);
    return true;
  } catch {
    return false;
  }
}

/** Which objects count, and where their hosts lead. */
export const sources = {
  INGRESS_CLASS_MAPPINGS: z.optional(mappings('ingressClass', 'which class leads where; the first of a class counts')),
  INGRESS_CLASS: withDefault(
    text({ about: 'the class, when there is one', example: 'nginx', pattern: soundClass }),
    'nginx',
  ),
  TARGET_CNAME: withDefault(
    target('where that class leads'),
    'ingress-nginx-controller.ingress-nginx.svc.cluster.local.',
  ),
  GATEWAY_CLASS_MAPPINGS: z.optional(mappings('gatewayClass', 'the same for Gateway API; unset leaves it alone')),
  GATEWAY_CLASS: z.optional(
    text({ about: 'the class of Gateways, when there is one', example: 'istio', pattern: soundClass }),
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

interface GatewaySettings {
  readonly GATEWAY_CLASS_MAPPINGS?: unknown;
  readonly GATEWAY_CLASS?: string | undefined;
  readonly GATEWAY_TARGET_CNAME?: string | undefined;
}

/** One without the other would be taken for neither, and nobody would be told. */
export function isGatewayClassLed(config: GatewaySettings): boolean {
  return config.GATEWAY_CLASS === undefined || isMapped(config) || config.GATEWAY_TARGET_CNAME !== undefined;
}

export function isGatewayTargetUsed(config: GatewaySettings): boolean {
  return config.GATEWAY_TARGET_CNAME === undefined || isMapped(config) || config.GATEWAY_CLASS !== undefined;
}

function isMapped({ GATEWAY_CLASS_MAPPINGS }: GatewaySettings): boolean {
  return GATEWAY_CLASS_MAPPINGS !== undefined;
}

/** Which hosts may be claimed. */
export const hosts = {
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
