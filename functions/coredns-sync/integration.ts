import type { Step } from '../../lib/function/plan.ts';
import type { ConfigMap, DaemonSet, Deployment, Service } from '../../lib/kube/resource.ts';
import type { Host } from './rule.ts';

/** What was read of the cluster's DNS; what is absent does not exist or may not be read. */
export interface DnsObjects {
  /** `COREDNS_CONFIGMAP_NAME`. */
  readonly corefile?: ConfigMap;
  /** `coredns-custom`, where managed clusters let their users add to the Corefile. */
  readonly custom?: ConfigMap;
  readonly deployment?: Deployment;
  /** ConfigMap or DaemonSet `node-local-dns`. */
  readonly nodeLocal?: ConfigMap | DaemonSet;
  /** `kube-dns`, read with `NODELOCAL_MODE=stubdomains` only: its stub domains, and the address of the cluster's DNS. */
  readonly kubeDns?: { readonly configMap?: ConfigMap; readonly service?: Service };
}

export type IntegrationMode = 'corefile' | 'custom-configmap' | 'inline' | 'none';

export interface IntegrationOptions {
  /** With `false` nothing is planned, only observed. */
  readonly configure: boolean;
  readonly mode: 'auto' | IntegrationMode;
  readonly importPosition: 'first' | 'last';
  readonly nodeLocal: 'report' | 'stubdomains';
  readonly namespace: string;
  readonly configMapName: string;
  readonly rulesConfigMap: string;
  readonly rulesKey: string;
  readonly maxShards: number;
  readonly volumeName: string;
  readonly mountPath: string;
  /** Every configured target. */
  readonly targets: readonly string[];
  readonly clusterDomain: string;
  readonly renderMode: 'auto' | 'exact' | 'grouped' | 'template';
}

/** Where the rules are kept: in ConfigMaps of our own, as a key of `coredns-custom`, or inside the Corefile. */
export type Placement =
  | { readonly kind: 'own' }
  | { readonly kind: 'custom'; readonly configMap: string; readonly key: string }
  | { readonly kind: 'inline' };

/** What rendering and checking must know of the live CoreDNS. Plain JSON, kept in the state between full passes. */
export interface DnsFacts {
  readonly mode: IntegrationMode;
  readonly placement: Placement;
  /** From the image tag of the Deployment, as `1.14.7`; undefined when the tag says nothing. */
  readonly version?: string;
  /** A block that must answer our hosts can't resolve a target by itself: only a CNAME that is looked up anew works there. */
  readonly redispatch: boolean;
  readonly imported: boolean;
  readonly volume: boolean;
  readonly mount: boolean;
  /** Shards that the live Deployment mounts; 1 when the volume holds only the first ConfigMap. */
  readonly shards: number;
  readonly reload: boolean;
  /** Zones of server blocks beside the root: a new host within one of them asks for an integration check. */
  readonly zones: readonly string[];
  readonly plugins: readonly string[];
}

export type ConditionType =
  | 'NoCorefile'
  | 'InvalidCorefile'
  | 'NoEligibleBlock'
  | 'MountConflict'
  | 'RollingOut'
  | 'Unsupported'
  | 'NotConfigured'
  | 'NoReload'
  | 'BypassedByNodeLocal';

export interface DnsCondition {
  readonly type: ConditionType;
  readonly message: string;
}

/** Which part of the integration a step heals: each has its own budget (`MAX_HEALS_PER_HOUR`). */
export type Component = 'import_statement' | 'volume_mount' | 'stub_domains';

export interface IntegrationStep {
  readonly component: Component;
  readonly step: Step;
}

export interface Integration {
  readonly facts: DnsFacts;
  readonly steps: readonly IntegrationStep[];
  readonly conditions: readonly DnsCondition[];
}

export type PlanIntegration = (
  observed: DnsObjects,
  options: IntegrationOptions,
  hosts: readonly Host[],
) => Integration;
