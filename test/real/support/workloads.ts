import type { Pod } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import type { Body, Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { waitUntil } from '../parts/wait.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

/** A workload of a suite. Its pods carry its name and kind as labels. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly replicas?: number;
  readonly template?: Template;
}

export interface Template {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: NonNullable<Pod['spec']>;
}

const madeAtOnce = 8;
const kinds: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** What `identify` and the maps of this file are keyed by. */
export function identify({ kind, namespace, name }: Pick<Workload, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}

export async function createNamespace(
  client: Client,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  expectCode(201, await client.call('POST', '/api/v1/namespaces', { body: { metadata: { name, labels } } }));
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await waitUntil(`${name} has its account`, async () => (await client.call('GET', path)).code === 200);
}

export async function relabelNamespace(
  client: Client,
  name: string,
  labels: Readonly<Record<string, string | null>>,
): Promise<void> {
  await mergePatch(client, `/api/v1/namespaces/${name}`, { metadata: { labels } });
}

export async function mergePatch(client: Client, path: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  return expectCode(200, await client.call('PATCH', path, { body, headers }));
}

export async function createWorkloads(client: Client, workloads: readonly Workload[]): Promise<void> {
  await inParallel(madeAtOnce, workloads, async (workload) =>
    expectCode(201, await client.call('POST', collectionOf(workload), { body: objectOf(workload) })),
  );
  await settled(client, workloads);
}

/** Waits until all pods of all workloads are of the present template and ready. */
export async function settled(client: Client, workloads: readonly Workload[], withinMs?: number): Promise<void> {
  const wanted = new Set(workloads.map(identify));
  await waitUntil(
    `${wanted.size} workloads are rolled out`,
    async () => {
      const objects = await listWorkloads(client);
      const done = objects.filter((object) => isComplete(object)).map(identityOf);
      return done.filter((identity) => wanted.has(identity)).length === wanted.size;
    },
    withinMs,
  );
}

/** How often the spec of each workload has changed since it was made: each restart changes it once. */
export async function generations(client: Client): Promise<ReadonlyMap<string, number>> {
  const objects = await listWorkloads(client);
  return new Map(objects.map((object) => [identityOf(object), object.metadata?.generation ?? 0]));
}

export async function livePods(client: Client): Promise<readonly Pod[]> {
  const { items = [] } = expectCode(200, await client.call('GET', '/api/v1/pods'));
  return (items as Pod[]).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

/** The same of one workload. */
export async function livePodsOf(client: Client, workload: Workload): Promise<readonly Pod[]> {
  const wanted = Object.entries(marks(workload));
  return (await livePods(client)).filter(
    ({ metadata }) =>
      metadata?.namespace === workload.namespace &&
      wanted.every(([label, value]) => metadata.labels?.[label] === value),
  );
}

/** What pods that never become ready waited for is there. */
export async function mendPods(client: Client, workload: Workload): Promise<void> {
  for (const { metadata } of await livePodsOf(client, workload)) {
    const path = `/api/v1/namespaces/${workload.namespace}/pods/${metadata?.name ?? ''}`;
    await mergePatch(client, path, { metadata: { annotations: { 'sandbox.kube-reflex.dev/ready': null } } });
  }
}

export function pathOfWorkload(workload: Workload): string {
  return `${collectionOf(workload)}/${workload.name}`;
}

/** The pod that a controller would make of the workload. */
export function podOf(workload: Workload): Pod {
  const { name, template = {} } = workload;
  const { labels, annotations, spec = plainSpec } = template;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${name}-`,
      labels: { ...marks(workload), ...labels },
      ...(annotations && { annotations }),
    },
    spec,
  };
}

/** Labels that distinguish the pods of a workload from those of its namesakes. */
export function marks({ kind, name }: Workload): Readonly<Record<string, string>> {
  return { app: name, kind };
}

const plainSpec: NonNullable<Pod['spec']> = { containers: [{ name: 'app', image: 'example.com/app:1' }] };

function objectOf(workload: Workload): object {
  const { metadata, spec } = podOf(workload);
  const { labels, annotations } = metadata ?? {};
  const own = workload.kind === 'DaemonSet' ? {} : { replicas: workload.replicas ?? 1 };
  const selector = { matchLabels: marks(workload) };
  const template = { metadata: { labels, annotations }, spec };
  return { metadata: { name: workload.name }, spec: { ...own, selector, template } };
}

function collectionOf({ kind, namespace }: Workload): string {
  return `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
}

/** A workload as the API server lists it. */
export interface Listed extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

async function listWorkloads(client: Client): Promise<readonly Listed[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items = [] } = expectCode(200, await client.call('GET', `/apis/apps/v1/${kind.toLowerCase()}s`));
      return items.map((item) => ({ ...item, kind }) as Listed);
    }),
  );
  return lists.flat();
}

export function identityOf({ kind, metadata }: Listed): string {
  return `${kind ?? ''} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** As `kubectl rollout status` says it. */
export function isComplete({ kind, metadata, spec, status = {} }: Listed): boolean {
  if (status['observedGeneration'] !== metadata?.generation) {
    return false;
  }
  if (kind === 'DaemonSet') {
    const wanted = status['desiredNumberScheduled'] ?? 0;
    return wanted > 0 && status['updatedNumberScheduled'] === wanted && status['numberAvailable'] === wanted;
  }
  const wanted = spec.replicas ?? 1;
  const counts = ['replicas', 'updatedReplicas', 'availableReplicas'].map((count) => status[count] ?? 0);
  return counts.every((count) => count === wanted);
}
