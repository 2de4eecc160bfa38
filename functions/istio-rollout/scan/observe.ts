import type { Collection, Kube, ListOptions, MetadataOnly } from '../../../lib/kube/client.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import { pods, replicaSets, type Resource } from '../../../lib/kube/model/resource.ts';
import { formatSelector, requirements } from '../../../lib/kube/model/selector.ts';
import type { OwnerReference } from '../../../lib/kube/model/wire.ts';
import type { Config } from '../config.ts';
import type { Identity } from '../state/state.ts';
import { controllerRevisions, resources, type ByKind, type WorkloadKind } from './kinds.ts';
import { podFields, podView, type PodView } from './pod.ts';
import { workloadOf, type Workload } from './workload.ts';

/** Workloads with all that stands between them and their pods. */
export interface Observed {
  readonly workloads: readonly Workload[];
  /** ReplicaSets and ControllerRevisions, by uid. */
  readonly links: ReadonlyMap<string, Link>;
  readonly pods: readonly PodView[];
  /** Kinds that could not be listed: their pods are nobody's here. */
  readonly unreadable: readonly WorkloadKind[];
}

/** An object between a workload and its pods. */
export interface Link {
  readonly kind: 'ReplicaSet' | 'ControllerRevision';
  readonly name: string;
  readonly uid: string;
  readonly owner?: OwnerReference;
  /** Of a ReplicaSet: which revision of its Deployment it is. */
  readonly revision?: string;
  /** What its pods carry as label. */
  readonly hash?: string;
  readonly createdAt: number;
}

const livePods = 'status.phase!=Succeeded,status.phase!=Failed';

/** Kinds that are looked at; the bare ones only if something may be done about them. */
export function kindsOf({ ARGO_ROLLOUTS, UNMANAGED_ACTION }: Config): readonly WorkloadKind[] {
  return [
    'Deployment',
    'StatefulSet',
    'DaemonSet',
    ...(ARGO_ROLLOUTS ? (['Rollout'] as const) : []),
    ...(UNMANAGED_ACTION === 'evict' ? (['ReplicaSet', 'ReplicationController'] as const) : []),
  ];
}

/** Everything of a namespace, or of the cluster. */
export async function observe(kube: Kube, config: Config, namespace?: string): Promise<Observed> {
  const place = namespace === undefined ? {} : { namespace };
  // Pods last: whoever is among them has a workload that was read before or is younger than this scan.
  const found = await Promise.all(kindsOf(config).map((kind) => listKind(kube, kind, place)));
  const links = await listIfAllowed(kube, replicaSets, place);
  const live = await listPods(kube, place, config);
  return withRevisions(kube, place, {
    workloads: found.flatMap(({ workloads }) => workloads),
    links: linksOf('ReplicaSet', links ?? []),
    pods: live.items,
    unreadable: [
      ...found.flatMap(({ kind, isReadable }) => (isReadable ? [] : [kind])),
      ...(links === undefined ? (['ReplicaSet'] as const) : []),
    ],
  });
}

/** One workload as it is now. */
export async function readWorkload(
  kube: Kube,
  kind: WorkloadKind,
  place: { readonly namespace: string; readonly name: string },
): Promise<Workload | undefined> {
  const object = await kube.get<ByKind[WorkloadKind]>(resources[kind], place);
  return object === undefined ? undefined : workloadOf(kind, object);
}

/** One workload as it is now, with its pods. Undefined when it is gone. */
export async function observeOne(
  kube: Kube,
  config: Config,
  { kind, namespace, name, uid }: Identity,
): Promise<Observed | undefined> {
  const workload = await readWorkload(kube, kind, { namespace, name });
  if (workload?.uid !== uid) {
    return undefined;
  }
  const labelSelector = formatSelector(requirements(workload.selector));
  const place = { namespace, labelSelector };
  const isIndirect = kind === 'Deployment' || kind === 'Rollout';
  const owned = (isIndirect ? await listIfAllowed(kube, replicaSets, place) : undefined) ?? [];
  const live = await listPods(kube, place, config);
  const observed = { workloads: [workload], links: linksOf('ReplicaSet', owned), pods: live.items, unreadable: [] };
  return withRevisions(kube, { namespace }, observed);
}

function listPods(kube: Kube, place: ListOptions, { DRIFT_CHECKS }: Config): Promise<Collection<PodView>> {
  const options = { ...place, fieldSelector: livePods, fields: podFields(DRIFT_CHECKS) };
  return kube.pick(pods, options, (pod) => podView(pod, DRIFT_CHECKS));
}

async function listKind<Kind extends WorkloadKind>(
  kube: Kube,
  kind: Kind,
  place: ListOptions,
): Promise<{ readonly kind: Kind; readonly workloads: readonly Workload[]; readonly isReadable: boolean }> {
  try {
    const { items } = await kube.pick(resources[kind], place, (object) => workloadOf(kind, object));
    return { kind, workloads: items, isReadable: true };
  } catch (error) {
    // A kind that is not served, or that we may not read, leaves the others alone.
    if (error instanceof Refusal && (error.code === 403 || error.code === 404)) {
      return { kind, workloads: [], isReadable: false };
    }
    throw error;
  }
}

/** What may not be read stands in the way of those that hang on it, and of no others. */
async function listIfAllowed(
  kube: Kube,
  resource: Resource,
  place: ListOptions,
): Promise<readonly MetadataOnly[] | undefined> {
  try {
    return (await kube.listMetadata(resource, place)).items;
  } catch (error) {
    if (error instanceof Refusal && error.code === 403) {
      return undefined;
    }
    throw error;
  }
}

function linksOf(kind: Link['kind'], items: readonly MetadataOnly[]): ReadonlyMap<string, Link> {
  return new Map(items.map(({ metadata }) => [metadata.uid ?? '', linkOf(kind, metadata)]));
}

function linkOf(kind: Link['kind'], metadata: MetadataOnly['metadata']): Link {
  const { name = '', uid = '', ownerReferences = [], annotations = {}, labels = {}, creationTimestamp = '' } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const revision = annotations['deployment.kubernetes.io/revision'];
  const hash = hashLabels.map((label) => labels[label]).find((value) => value !== undefined);
  return {
    kind,
    name,
    uid,
    createdAt: Date.parse(creationTimestamp),
    ...(owner && { owner }),
    ...(revision !== undefined && { revision }),
    ...(hash !== undefined && { hash }),
  };
}

const hashLabels = ['pod-template-hash', 'rollouts-pod-template-hash', 'controller-revision-hash'];

/** ControllerRevisions are asked for only where something hangs on them. */
async function withRevisions(kube: Kube, place: ListOptions, observed: Observed): Promise<Observed> {
  const isNeeded =
    observed.pods.some(({ owner }) => owner?.kind === 'ControllerRevision') ||
    observed.workloads.some(({ kind, revision }) => kind === 'DaemonSet' && revision === undefined);
  if (!isNeeded) {
    return observed;
  }
  const items = (await listIfAllowed(kube, controllerRevisions, place)) ?? [];
  return { ...observed, links: new Map([...observed.links, ...linksOf('ControllerRevision', items)]) };
}
