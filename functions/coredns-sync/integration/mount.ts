import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type PatchStep } from '../../../lib/kube/model/plan.ts';
import { deployments, type Deployment } from '../../../lib/kube/model/resource.ts';

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;
type Container = PodSpec['containers'][number];
type Volume = NonNullable<PodSpec['volumes']>[number];

export interface MountOptions {
  readonly volumeName: string;
  readonly mountPath: string;
  readonly rulesConfigMap: string;
  readonly maxShards: number;
}

export interface Mount {
  readonly volume: boolean;
  readonly mount: boolean;
  /** ConfigMaps of rules that the volume shows, counted from the first. */
  readonly shards: number;
  /** Why the volume can't be mounted. */
  readonly conflict?: string;
}

/** How the live Deployment shows the rules to CoreDNS. */
export function observeMount(deployment: Deployment, options: MountOptions): Mount {
  const volume = volumesOf(deployment).find(({ name }) => name === options.volumeName);
  const container = corednsContainer(deployment);
  const there = container?.volumeMounts?.find(({ mountPath }) => trimmed(mountPath) === options.mountPath);
  const conflict = conflictOf(container, volume, there?.name, options);
  return {
    volume: volume !== undefined && shardsOf(volume, options) > 0,
    mount: there?.name === options.volumeName,
    shards: volume === undefined ? 0 : shardsOf(volume, options),
    ...(conflict === undefined ? {} : { conflict }),
  };
}

/** The patch that adds what is missing; undefined when nothing is. Every change of the template restarts the cluster's DNS. */
export function planMount(deployment: Deployment, options: MountOptions): PatchStep | undefined {
  const { volume, mount, conflict } = observeMount(deployment, options);
  if (conflict !== undefined) {
    return undefined;
  }
  const operations = [
    ...(volume ? volumeGrowth(deployment, options) : addVolume(deployment, options)),
    ...(mount ? [] : addMount(deployment, options)),
  ];
  return operations.length === 0 ? undefined : patch(deployment, `CoreDNS gets ${options.mountPath}`, operations);
}

function addVolume(deployment: Deployment, options: MountOptions): readonly Operation[] {
  return append(['spec', 'template', 'spec', 'volumes'], volumesOf(deployment), ownVolume(options));
}

function addMount(deployment: Deployment, { volumeName, mountPath }: MountOptions): readonly Operation[] {
  const containers = deployment.spec?.template.spec?.containers ?? [];
  const index = containers.findIndex((container) => container === corednsContainer(deployment));
  const path = ['spec', 'template', 'spec', 'containers', index, 'volumeMounts'];
  return append(path, containers[index]?.volumeMounts, { name: volumeName, mountPath, readOnly: true });
}

/** The patch that takes our volume and its mounts out of every container; undefined when there are none. */
export function planUnmount(deployment: Deployment, options: MountOptions): PatchStep | undefined {
  const spec = deployment.spec?.template.spec;
  const volume = volumesOf(deployment).findIndex(
    (candidate) => candidate.name === options.volumeName && shardsOf(candidate, options) > 0,
  );
  if (spec === undefined || volume < 0) {
    return undefined;
  }
  const mounts = (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ volumeMounts = [] }, container) =>
      volumeMounts
        .flatMap(({ name }, index) => (name === options.volumeName ? [index] : []))
        .reverse() // so that earlier indices stay true
        .map((index) => removal('spec', 'template', 'spec', list, container, 'volumeMounts', index)),
    ),
  );
  return patch(deployment, `CoreDNS no longer gets ${options.mountPath}`, [
    ...mounts,
    removal('spec', 'template', 'spec', 'volumes', volume),
  ]);
}

/** Has every pod of the Deployment the latest template? */
export function isRolledOut(deployment: Deployment): boolean {
  return isSeen(deployment) && hasAllPods(deployment.status, deployment.spec?.replicas ?? 1);
}

/** May there be a pod of an earlier template? One that does not start has the latest, and delays nothing by that. */
export function hasFormerPods(deployment: Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0 } = deployment.status ?? {};
  return !isSeen(deployment) || replicas > updatedReplicas;
}

function isSeen({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
}

function hasAllPods(status: Deployment['status'], wanted: number): boolean {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  return updatedReplicas >= wanted && replicas <= updatedReplicas && availableReplicas >= wanted;
}

/** The container called `coredns`, else the one with `-conf`, else the only one. */
export function corednsContainer(deployment: Deployment): Container | undefined {
  const containers = deployment.spec?.template.spec?.containers ?? [];
  return (
    containers.find(({ name }) => name === 'coredns') ??
    containers.find(({ args = [] }) => args.includes('-conf')) ??
    (containers.length === 1 ? containers[0] : undefined)
  );
}

/** Shown to CoreDNS even while a ConfigMap is missing: otherwise its pods could not start. */
function ownVolume({ volumeName, rulesConfigMap, maxShards }: MountOptions): Volume {
  const sources = Array.from({ length: maxShards }, (_, shard) => ownSource(rulesConfigMap, shard));
  return { name: volumeName, projected: { sources } };
}

function ownSource(rulesConfigMap: string, shard: number): { configMap: { name: string; optional: boolean } } {
  return { configMap: { name: shardName(rulesConfigMap, shard), optional: true } };
}

/** `<name>`, `<name>-1`, …: the ConfigMaps of rules. */
export function shardName(rulesConfigMap: string, shard: number): string {
  return shard === 0 ? rulesConfigMap : `${rulesConfigMap}-${shard}`;
}

/** Sources that our own volume lacks since `MAX_SHARDS` was raised. A plain volume, as others made it, stays as it is. */
function volumeGrowth(deployment: Deployment, options: MountOptions): readonly Operation[] {
  const volumes = volumesOf(deployment);
  const index = volumes.findIndex(({ name }) => name === options.volumeName);
  const volume = volumes[index];
  const shards = volume?.projected === undefined ? 0 : shardsOf(volume, options);
  return shards === 0
    ? []
    : Array.from({ length: Math.max(0, options.maxShards - shards) }, (_, more) => ({
        op: 'add' as const,
        path: pointer('spec', 'template', 'spec', 'volumes', index, 'projected', 'sources', '-'),
        value: ownSource(options.rulesConfigMap, shards + more),
      }));
}

function shardsOf({ configMap, projected }: Volume, { rulesConfigMap }: MountOptions): number {
  if (configMap?.name === rulesConfigMap) {
    return 1;
  }
  const names = new Set(projected?.sources?.map((source) => source.configMap?.name));
  let shards = 0;
  while (names.has(shardName(rulesConfigMap, shards))) {
    shards += 1;
  }
  return shards;
}

function conflictOf(
  container: Container | undefined,
  volume: Volume | undefined,
  mounted: string | undefined,
  options: MountOptions,
): string | undefined {
  if (container === undefined) {
    return 'no container is called coredns or has the argument -conf';
  }
  if (hidesCorefile(options.mountPath)) {
    return `a volume at ${options.mountPath} would hide the Corefile; choose a path below it`;
  }
  if (mounted !== undefined && mounted !== options.volumeName) {
    return `${options.mountPath} belongs to the volume ${mounted}; choose another MOUNT_PATH`;
  }
  return volume !== undefined && shardsOf(volume, options) === 0
    ? `the volume ${options.volumeName} shows something else; choose another COREDNS_VOLUME_NAME`
    : undefined;
}

function hidesCorefile(mountPath: string): boolean {
  return '/etc/coredns/'.startsWith(mountPath === '/' ? '/' : `${trimmed(mountPath)}/`);
}

function append(path: readonly (string | number)[], list: readonly unknown[] | undefined, item: object): Operation[] {
  return list === undefined || list.length === 0
    ? [{ op: 'add', path: pointer(...path), value: [item] }]
    : [{ op: 'add', path: pointer(...path, '-'), value: item }];
}

function removal(...path: readonly (string | number)[]): Operation {
  return { op: 'remove', path: pointer(...path) };
}

function patch(deployment: Deployment, why: string, operations: readonly Operation[]): PatchStep {
  const { namespace = '', name = '' } = deployment.metadata ?? {};
  return {
    do: 'patch',
    resource: deployments,
    namespace,
    name,
    operations: [unchanged(deployment), ...operations],
    why,
  };
}

function volumesOf(deployment: Deployment): readonly Volume[] {
  return deployment.spec?.template.spec?.volumes ?? [];
}

/** Kubernetes takes a mount path with or without a slash at its end. */
export function trimmed(path: string): string {
  return path.replace(/(?<=.)\/$/, '');
}
