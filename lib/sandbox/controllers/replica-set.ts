import { matchesLabelSelector } from '../../kube/model/selector.ts';
import type { Pod, ReplicaSet } from '../../kube/model/resource.ts';
import { timestamp } from '../model/clock.ts';
import { type Caller, controller, type InternalApi } from '../model/internal.ts';
import { ApiError } from '../model/status.ts';
import { adopt } from './adopt.ts';
import { pods, replicaSets } from './kinds.ts';
import { controllerOf, indexByOwner, keyOf, type Owned, parseKey } from './owned.ts';
import { isActive, isAvailable, isReady, isTerminating, nextAvailability } from './pod.ts';
import { createQueue } from './queue.ts';
import { controllerReference, podFrom } from './template.ts';
import { removeObject, slowStart, writeStatus } from './writes.ts';

const as: Caller = controller('replicaset');

/** A ReplicaSet of 1000 pods rests 20 ms between looks. */
const podsPerRestMs = 50;

type Status = NonNullable<ReplicaSet['status']>;

/** Keeps as many pods as each ReplicaSet asks for. The answer stops it. */
export function startReplicaSets(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look, { restMs });
  const owned: Owned<Pod> = indexByOwner(api, pods, ({ object, old }) => {
    for (const pod of old === undefined ? [object] : [object, old]) {
      const owner = controllerOf(pod);
      if (owner?.kind === 'ReplicaSet') {
        queue.add(`${pod.metadata?.namespace ?? ''}/${owner.name}`);
      }
    }
  });
  const unsubscribe = api.subscribe(replicaSets, ({ object }) => queue.add(keyOf(object)));
  for (const replicaSet of api.list(replicaSets)) {
    queue.add(keyOf(replicaSet));
  }

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const replicaSet = api.get(replicaSets, name, namespace) as ReplicaSet | undefined;
    if (replicaSet === undefined) {
      return;
    }
    await adopt(api, {
      owner: replicaSet,
      selector: replicaSet.spec?.selector,
      reference: reference(replicaSet),
      kind: pods,
      orphans: owned.orphans(namespace).filter(isActive),
      as,
    });
    const failure = await reconcile(api, replicaSet, owned);
    const current = api.get(replicaSets, name, namespace) as ReplicaSet | undefined;
    if (current !== undefined) {
      const mine = owned.of(uidOf(current));
      await writeStatus(api, replicaSets, { object: current, status: statusOf(current, mine, api, failure), as });
      recheck(current, mine);
    }
    if (failure !== undefined) {
      throw failure;
    }
  }

  /** A look goes over all pods, so a large set is not looked at for each of them. */
  function restMs(key: string): number {
    const { namespace, name } = parseKey(key);
    const { replicas = 0 } = (api.get(replicaSets, name, namespace) as ReplicaSet | undefined)?.status ?? {};
    return Math.floor(replicas / podsPerRestMs);
  }

  /** Looks again when the next ready pod counts as available. */
  function recheck(replicaSet: ReplicaSet, mine: readonly Pod[]): void {
    const seconds = replicaSet.spec?.minReadySeconds ?? 0;
    const next = seconds === 0 ? undefined : nextAvailability(mine, seconds, api.now());
    if (next !== undefined) {
      queue.addAfter(keyOf(replicaSet), next);
    }
  }

  return () => {
    queue.close();
    unsubscribe();
    owned.close();
  };
}

function uidOf({ metadata }: ReplicaSet): string {
  return metadata?.uid ?? '';
}

function reference(replicaSet: ReplicaSet): ReturnType<typeof controllerReference> {
  return controllerReference(replicaSet, 'apps/v1', 'ReplicaSet');
}

/** Creates or deletes pods; the answer is what stopped it. */
async function reconcile(api: InternalApi, replicaSet: ReplicaSet, owned: Owned<Pod>): Promise<ApiError | undefined> {
  const { deletionTimestamp, namespace = '' } = replicaSet.metadata ?? {};
  const { replicas = 1, template } = replicaSet.spec ?? {};
  if (deletionTimestamp !== undefined || template === undefined) {
    return undefined;
  }
  const active = owned.of(uidOf(replicaSet)).filter(isActive);
  const missing = replicas - active.length;
  try {
    const pod = podFrom(template, namespace, reference(replicaSet));
    await slowStart(missing, () => api.create(pods, pod, as));
    const surplus = missing < 0 ? active.toSorted(leastWorthFirst).slice(0, -missing) : [];
    await slowStart(surplus.length, (index) => removeObject(api, pods, surplus[index] ?? {}, as));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) {
      return error;
    }
    throw error;
  }
}

/** Pods go in this order: unassigned, pending, not ready, young. */
function leastWorthFirst(a: Pod, b: Pod): number {
  return worth(a) - worth(b) || age(b) - age(a);
}

function worth(pod: Pod): number {
  const isPlaced = (pod.spec?.nodeName ?? '') !== '';
  const phase = { Pending: 0, Unknown: 1, Running: 2 }[pod.status?.phase ?? 'Pending'] ?? 0;
  return Number(isPlaced) * 100 + phase * 10 + Number(isReady(pod));
}

/** The moment of creation; names break ties so that the order is the same every time. */
function age({ metadata }: Pod): number {
  return Date.parse(metadata?.creationTimestamp ?? '') || 0;
}

function statusOf(replicaSet: ReplicaSet, mine: readonly Pod[], api: InternalApi, failure?: ApiError): Status {
  const { minReadySeconds = 0, template, replicas = 1 } = replicaSet.spec ?? {};
  const active = mine.filter(isActive);
  const labels = template?.metadata?.labels ?? {};
  return {
    replicas: active.length,
    ...counted({
      fullyLabeledReplicas: active.filter((pod) =>
        matchesLabelSelector({ matchLabels: labels }, pod.metadata?.labels ?? {}),
      ).length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, api.now())).length,
    }),
    terminatingReplicas: mine.filter(isTerminating).length,
    observedGeneration: replicaSet.metadata?.generation ?? 0,
    ...conditionsAfter(replicaSet, failure, active.length < replicas ? 'FailedCreate' : 'FailedDelete', api),
  };
}

function conditionsAfter(
  { status }: ReplicaSet,
  failure: ApiError | undefined,
  reason: string,
  api: InternalApi,
): Pick<Status, 'conditions'> {
  if (failure === undefined) {
    return {};
  }
  const [before] = status?.conditions ?? [];
  const lastTransitionTime = before?.lastTransitionTime ?? timestamp(api.now());
  return {
    conditions: [{ type: 'ReplicaFailure', status: 'True', lastTransitionTime, reason, message: failure.message }],
  };
}

/** Counters as the API writes them: a zero is left out. */
export function counted<T extends Readonly<Record<string, number>>>(counters: T): Partial<T> {
  return Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0)) as Partial<T>;
}
