import type { Deployment, Pod, ReplicaSet, StatefulSet } from '../../kube/model/resource.ts';
import { matchesLabelSelector } from '../../kube/model/selector.ts';
import { type Caller, controller, type InternalApi, type KindRef } from '../model/internal.ts';
import { disruptionStatus } from './disruption-status.ts';
import { deployments, disruptionBudgets, type PodDisruptionBudget, pods, replicaSets, statefulSets } from './kinds.ts';
import { controllerOf, keyOf, parseKey } from './owned.ts';
import { createQueue } from './queue.ts';
import { writeStatus } from './writes.ts';

const as: Caller = controller('disruption');
const podsPerRestMs = 50;

/** Keeps the status of PodDisruptionBudgets current. The answer stops it. */
export function startDisruption(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look, {
    restMs: (key) => (read(key)?.status?.expectedPods ?? 0) / podsPerRestMs,
  });

  function read(key: string): PodDisruptionBudget | undefined {
    const { namespace, name } = parseKey(key);
    return api.get(disruptionBudgets, name, namespace);
  }

  async function look(key: string): Promise<void> {
    const budget = read(key);
    if (budget === undefined) {
      return;
    }
    const selected = podsOf(api, budget);
    const status = disruptionStatus(budget, { pods: selected, scale: scaleOf(api, selected), now: api.now() });
    await writeStatus(api, disruptionBudgets, { object: budget, status, as });
  }

  function onPod(pod: Pod): void {
    const { namespace = '', labels = {} } = pod.metadata ?? {};
    for (const budget of api.list(disruptionBudgets, { namespace }) as readonly PodDisruptionBudget[]) {
      if (matchesLabelSelector(budget.spec?.selector, labels)) {
        queue.add(keyOf(budget));
      }
    }
  }

  /** A controller that is scaled changes what the budgets of its namespace count on. */
  function onController({ metadata }: { metadata?: { namespace?: string } }): void {
    const { namespace = '' } = metadata ?? {};
    for (const budget of api.list(disruptionBudgets, { namespace })) {
      queue.add(keyOf(budget));
    }
  }

  const stops = [
    () => queue.close(),
    api.subscribe(disruptionBudgets, ({ object }) => queue.add(keyOf(object))),
    api.subscribe(pods, ({ object, old }) => [object, ...(old ? [old] : [])].forEach(onPod)),
    ...[deployments, replicaSets, statefulSets].map((kind) =>
      api.subscribe(kind, ({ object, old }) => {
        if (object.metadata?.generation !== old?.metadata?.generation) {
          onController(object);
        }
      }),
    ),
  ];
  for (const budget of api.list(disruptionBudgets)) {
    queue.add(keyOf(budget));
  }
  return () => stops.forEach((stop) => stop());
}

function podsOf(api: InternalApi, { metadata, spec }: PodDisruptionBudget): readonly Pod[] {
  const all = api.list(pods, { namespace: metadata?.namespace ?? '' }) as readonly Pod[];
  return all.filter((pod) => matchesLabelSelector(spec?.selector, pod.metadata?.labels ?? {}));
}

type Scaled = Deployment | ReplicaSet | StatefulSet;

/** How many pods the controllers of these pods want in all; a pod without controller counts for itself. */
function scaleOf(api: InternalApi, selected: readonly Pod[]): number {
  const scales = new Map<string, number>();
  for (const pod of selected) {
    const top = topController(api, pod);
    scales.set(top?.metadata?.uid ?? pod.metadata?.uid ?? '', top?.spec?.replicas ?? 1);
  }
  return [...scales.values()].reduce((sum, count) => sum + count, 0);
}

const byKind: Readonly<Record<string, KindRef>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
};

function topController(api: InternalApi, object: Pod | Scaled): Scaled | undefined {
  const owner = controllerOf(object);
  const kind = byKind[owner?.kind ?? ''];
  const found =
    kind && owner ? (api.get(kind, owner.name, object.metadata?.namespace) as Scaled | undefined) : undefined;
  return found && (topController(api, found) ?? found);
}
