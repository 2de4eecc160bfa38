import type { Node, Pod } from '../../kube/model/resource.ts';

export function condition(
  object: Pod | Node,
  type: string,
): { status: string; lastTransitionTime?: string } | undefined {
  return object.status?.conditions?.find((each) => each.type === type);
}

export function isReady(pod: Pod): boolean {
  return condition(pod, 'Ready')?.status === 'True';
}

/** Ready for long enough. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: Date): boolean {
  return isReady(pod) && availableIn(pod, minReadySeconds, now) <= 0;
}

/** How many milliseconds a ready pod has to stay so until it counts as available. */
function availableIn(pod: Pod, minReadySeconds: number, now: Date): number {
  const since = Date.parse(condition(pod, 'Ready')?.lastTransitionTime ?? '');
  return minReadySeconds === 0 || Number.isNaN(since) ? 0 : since + minReadySeconds * 1000 - now.getTime();
}

/** When the next ready pod counts as available, in milliseconds. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: Date): number | undefined {
  const waits = pods.filter(isReady).map((pod) => availableIn(pod, minReadySeconds, now));
  const next = Math.min(...waits.filter((ms) => ms > 0));
  return Number.isFinite(next) ? next : undefined;
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata?.deletionTimestamp !== undefined;
}

export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Counts towards the replicas of its controller. */
export function isActive(pod: Pod): boolean {
  return !isTerminating(pod) && !hasEnded(pod);
}
