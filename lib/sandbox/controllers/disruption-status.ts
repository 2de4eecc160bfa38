import type { V1Condition } from '@kubernetes/client-node';
import type { Pod } from '../../kube/model/resource.ts';
import type { Wire } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';
import type { PodDisruptionBudget } from './kinds.ts';
import { isReady, isTerminating } from './pod.ts';
import { share } from './rollout.ts';

type Status = NonNullable<PodDisruptionBudget['status']>;

/** An evicted pod counts as gone for this long, even if its deletion is not seen yet. */
const evictionMs = 120_000;

/** What the budget allows, given its pods and how many their controllers want in all. */
export function disruptionStatus(
  budget: PodDisruptionBudget,
  { pods, scale, now }: { readonly pods: readonly Pod[]; readonly scale: number; readonly now: Date },
): Status {
  const { expectedPods, desiredHealthy } = expectation(budget, pods.length, scale);
  const disruptedPods = stillDisrupted(budget, pods, now);
  const currentHealthy = pods.filter(
    (pod) => isReady(pod) && !isTerminating(pod) && !Object.hasOwn(disruptedPods, pod.metadata?.name ?? ''),
  ).length;
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  return {
    observedGeneration: budget.metadata?.generation ?? 0,
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: disruptionCondition(budget, disruptionsAllowed, now),
  };
}

function expectation(
  { spec }: PodDisruptionBudget,
  count: number,
  scale: number,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - share(maxUnavailable, scale, Math.ceil)) };
  }
  const isShare = String(minAvailable ?? 0).endsWith('%');
  const expectedPods = isShare ? scale : count;
  return { expectedPods, desiredHealthy: share(minAvailable ?? 0, expectedPods, Math.ceil) };
}

function stillDisrupted({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Date): Record<string, string> {
  const present = new Set(pods.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata?.name));
  return Object.fromEntries(
    Object.entries(status?.disruptedPods ?? {}).filter(
      ([name, time]) => present.has(name) && now.getTime() - Date.parse(time) < evictionMs,
    ),
  );
}

export function disruptionCondition(budget: PodDisruptionBudget, allowed: number, now: Date): Wire<V1Condition>[] {
  const status = allowed > 0 ? 'True' : 'False';
  const [known] = budget.status?.conditions ?? [];
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : timestamp(now);
  return [
    {
      type: 'DisruptionAllowed',
      status,
      observedGeneration: budget.metadata?.generation ?? 0,
      lastTransitionTime,
      reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
    },
  ];
}
