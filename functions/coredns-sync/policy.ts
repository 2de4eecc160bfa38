import { posix } from 'node:path';
import { parseSelector, type Selector } from '../../lib/kube/model/selector.ts';
import type { Config } from './config.ts';
import { parseTarget, type HostPolicy } from './host.ts';
import type { IntegrationOptions } from './integration/types.ts';
import type { ClassMapping } from './settings/mapping.ts';

/** Where hosts of one class lead. Its place in the list of all mappings ranks it among them. */
export interface Mapping extends ClassMapping {
  readonly of: 'Ingress' | 'Gateway' | 'IngressRoute';
}

/** The settings in the form in which decisions need them. */
export interface Policy {
  readonly config: Config;
  readonly mappings: readonly Mapping[];
  readonly hosts: HostPolicy;
  readonly namespaceSelector: Selector | undefined;
  readonly watchesGateways: boolean;
  readonly watchesIngressRoutes: boolean;
  /** Without RENDER_ONLY: what CoreDNS sees. */
  readonly rulesName: string;
}

export function policyOf(config: Config): Policy {
  const mappings = [
    ...mapped('Ingress', ingressMappings(config)),
    ...mapped('Gateway', gatewayMappings(config)),
    ...mapped('IngressRoute', ingressRouteMappings(config)),
  ];
  return {
    config,
    mappings,
    hosts: {
      clusterDomain: config.CLUSTER_DOMAIN,
      targets: mappings.map(({ target }) => target),
      allow: config.DOMAIN_FILTER,
      exclude: config.EXCLUDE_DOMAINS,
      minWildcardLabels: config.MIN_WILDCARD_LABELS,
    },
    namespaceSelector: config.NAMESPACE_SELECTOR === undefined ? undefined : parseSelector(config.NAMESPACE_SELECTOR),
    watchesGateways: mappings.some((mapping) => mapping.of === 'Gateway'),
    watchesIngressRoutes: mappings.some((mapping) => mapping.of === 'IngressRoute'),
    rulesName: config.RENDER_ONLY ? `${config.DYNAMIC_CONFIGMAP_NAME}-preview` : config.DYNAMIC_CONFIGMAP_NAME,
  };
}

/** Which mapping a class has; the first of a repeated class counts. Classes are compared exactly. */
export function mappingOf({ mappings }: Policy, of: Mapping['of'], className: string): number | undefined {
  const index = mappings.findIndex((mapping) => mapping.of === of && mapping.className === className);
  return index < 0 ? undefined : index;
}

export function integrationOptions({ config, mappings }: Policy): IntegrationOptions {
  return {
    configure: config.COREDNS_AUTO_CONFIGURE,
    mode: config.INTEGRATION_MODE,
    importPosition: config.IMPORT_POSITION,
    nodeLocal: config.NODELOCAL_MODE,
    namespace: config.COREDNS_NAMESPACE,
    rulesConfigMap: config.DYNAMIC_CONFIGMAP_NAME,
    rulesKey: config.DYNAMIC_CONFIG_KEY,
    maxShards: config.MAX_SHARDS,
    volumeName: config.COREDNS_VOLUME_NAME,
    mountPath: posix.resolve(config.MOUNT_PATH ?? `/etc/coredns/custom/${config.INSTANCE}`),
    targets: mappings.map(({ target }) => target),
    clusterDomain: config.CLUSTER_DOMAIN,
    renderMode: config.RENDER_MODE,
  };
}

/** The Services that targets are the names of, each once. */
export function targetServices({ mappings, config }: Policy): readonly TargetService[] {
  const inside = new RegExp(`^([a-z0-9-]+)\\.([a-z0-9-]+)\\.svc\\.${config.CLUSTER_DOMAIN.replaceAll('.', '\\.')}\\.$`);
  return [...new Set(mappings.map(({ target }) => target))].flatMap((target) => {
    const [, name, namespace] = inside.exec(target) ?? [];
    return name === undefined || namespace === undefined ? [] : [{ target, name, namespace }];
  });
}

interface TargetService {
  readonly target: string;
  readonly name: string;
  readonly namespace: string;
}

function mapped(of: Mapping['of'], mappings: readonly ClassMapping[]): readonly Mapping[] {
  return mappings.map((mapping) => ({ ...mapping, of }));
}

function ingressMappings({ INGRESS_CLASS_MAPPINGS, INGRESS_CLASS, TARGET_CNAME }: Config): readonly ClassMapping[] {
  return INGRESS_CLASS_MAPPINGS ?? single(INGRESS_CLASS, TARGET_CNAME);
}

function gatewayMappings({ GATEWAY_CLASS_MAPPINGS, ...config }: Config): readonly ClassMapping[] {
  return GATEWAY_CLASS_MAPPINGS ?? single(config.GATEWAY_CLASS, config.GATEWAY_TARGET_CNAME);
}

/** Traefik's routes have no class of their own. */
function ingressRouteMappings({ INGRESSROUTE_TARGET_CNAME }: Config): readonly ClassMapping[] {
  return single('', INGRESSROUTE_TARGET_CNAME);
}

function single(className: string | undefined, target: string | undefined): readonly ClassMapping[] {
  const qualified = target === undefined ? undefined : parseTarget(target);
  return className === undefined || qualified === undefined ? [] : [{ className, target: qualified }];
}
