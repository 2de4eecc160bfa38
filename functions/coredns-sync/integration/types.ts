import type { Step } from '../../../lib/kube/model/plan.ts';
import type { BlockFrame } from '../render/blocks.ts';
import type { RenderMode } from '../render/render.ts';
import type { ConfigMap, DaemonSet, Deployment, Service } from '../../../lib/kube/model/resource.ts';

/** What was read of the cluster's DNS; what is absent does not exist or may not be read. */
export interface DnsObjects {
  /** `COREDNS_CONFIGMAP_NAME`. */
  readonly corefile?: ConfigMap | undefined;
  /** `coredns-custom`, where managed clusters let their users add to the Corefile. */
  readonly custom?: ConfigMap | undefined;
  /** It may not be read. */
  readonly customHidden?: boolean;
  readonly deployment?: Deployment | undefined;
  /** ConfigMap or DaemonSet `node-local-dns`. */
  readonly nodeLocal?: ConfigMap | DaemonSet | undefined;
  /** With `NODELOCAL_MODE=stubdomains`: the ConfigMap `kube-dns` and the Service by which the cache reaches CoreDNS. */
  readonly kubeDns?: { readonly configMap?: ConfigMap | undefined; readonly service?: Service | undefined } | undefined;
  /** The Services behind the targets, as far as they may be read. */
  readonly targets?: ReadonlyMap<string, Service | 'missing'>;
  /** What was known before. */
  readonly last?: DnsFacts | undefined;
  /** When all this was read. */
  readonly at?: Date;
}

export type IntegrationMode = 'corefile' | 'custom-configmap' | 'inline' | 'none';

export interface IntegrationOptions {
  /** With `false` nothing is planned, only observed. */
  readonly configure: boolean;
  readonly mode: 'auto' | IntegrationMode;
  readonly importPosition: 'first' | 'last';
  readonly nodeLocal: 'report' | 'stubdomains';
  readonly namespace: string;
  readonly rulesConfigMap: string;
  readonly rulesKey: string;
  readonly maxShards: number;
  readonly volumeName: string;
  /** Absolute, without a slash at its end. */
  readonly mountPath: string;
  /** Every configured target. */
  readonly targets: readonly string[];
  readonly clusterDomain: string;
  /** Rules that rewrite qualify only for blocks that resolve every target themselves. */
  readonly renderMode: 'auto' | RenderMode;
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
  /** A block that has our rules can't resolve a target by itself: only a CNAME that is looked up anew works there. */
  readonly redispatch: boolean;
  /** Zones with a block of their own and without a host: what the first one needs there, only a full pass finds out. */
  readonly idle?: readonly string[];
  readonly imported: boolean;
  readonly volume: boolean;
  readonly mount: boolean;
  /** ConfigMaps of rules that the live Deployment shows to CoreDNS, at least 1. */
  readonly shards: number;
  /** `hosts` and `file`, where a block that must answer has one of somebody else's, or may have it in a file unseen. */
  readonly occupied?: readonly string[];
  /** Of the Services behind the targets, with `RENDER_MODE=hosts`; the last known ones of a Service that is gone. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  /** With `RENDER_MODE=zoneblocks`, where the Corefile imports our blocks. */
  readonly blocks?: OwnBlocks;
}

export interface OwnBlocks {
  readonly frame: BlockFrame;
  /** When the import was first seen. */
  readonly since: string;
  /** So long ago that every CoreDNS has it: hosts may move from the rules to blocks. */
  readonly settled: boolean;
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
  | 'TargetMissing'
  | 'BypassedByNodeLocal';

export interface DnsCondition {
  readonly type: ConditionType;
  readonly message: string;
}

/** Which part of the integration a step mends: each has its own budget (`MAX_HEALS_PER_HOUR`). */
export type Component = 'import_statement' | 'volume_mount' | 'stub_domains';

export interface IntegrationStep {
  readonly component: Component;
  readonly step: Step;
  /** What it adds, where the step itself holds texts of others too: by that a repetition is known. */
  readonly adds?: string;
}

export interface Integration {
  readonly facts: DnsFacts;
  readonly steps: readonly IntegrationStep[];
  readonly conditions: readonly DnsCondition[];
}
