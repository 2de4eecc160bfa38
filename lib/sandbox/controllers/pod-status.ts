import type { V1ContainerState, V1PodCondition } from '@kubernetes/client-node';
import type { Pod } from '../../kube/model/resource.ts';
import type { Wire } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';

type Status = NonNullable<Pod['status']>;
type Condition = Wire<V1PodCondition>;

export const readyAfterAnnotation = 'sandbox.kube-reflex.dev/ready-after';
export const readyAnnotation = 'sandbox.kube-reflex.dev/ready';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** When a pod becomes ready: by its annotations, else by the sandbox's setting. */
export function readiness(
  { metadata }: Pod,
  defaultMs: number,
): { readonly isNever: boolean; readonly afterMs: number } {
  const { [readyAnnotation]: ready, [readyAfterAnnotation]: after = '' } = metadata?.annotations ?? {};
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(after) ?? [];
  return {
    isNever: ready === 'never',
    afterMs: amount === undefined ? defaultMs : Number(amount) * (units[unit] ?? 1),
  };
}

interface Moment {
  readonly address: string;
  readonly isReady: boolean;
  readonly now: Date;
}

/** The status of a pod whose containers run. */
export function running(pod: Pod, { address, isReady, now }: Moment): Status {
  const startedAt = pod.status?.startTime ?? timestamp(now);
  return {
    ...common(pod, address, now),
    phase: 'Running',
    conditions: conditions(pod, isReady ? 'True' : 'False', now),
    containerStatuses: containers(pod, isReady, { running: { startedAt } }),
  };
}

/** The status of a pod whose work is done. */
export function completed(pod: Pod, address: string, now: Date): Status {
  const startedAt = pod.status?.startTime ?? timestamp(now);
  const terminated = { exitCode: 0, reason: 'Completed', startedAt, finishedAt: timestamp(now) };
  return {
    ...common(pod, address, now),
    phase: 'Succeeded',
    conditions: conditions(pod, 'False', now, 'PodCompleted'),
    containerStatuses: containers(pod, false, { terminated }),
  };
}

function common(pod: Pod, address: string, now: Date): Status {
  return {
    ...pod.status,
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: pod.status?.startTime ?? timestamp(now),
  };
}

function conditions(pod: Pod, ready: string, now: Date, reason?: string): Condition[] {
  const why = reason ?? (ready === 'True' ? undefined : 'ContainersNotReady');
  return [
    condition(pod, { type: 'PodScheduled', status: 'True' }, now),
    condition(pod, { type: 'Initialized', status: 'True' }, now),
    condition(pod, { type: 'ContainersReady', status: ready, ...(why !== undefined && { reason: why }) }, now),
    condition(pod, { type: 'Ready', status: ready, ...(why !== undefined && { reason: why }) }, now),
  ];
}

function condition(pod: Pod, next: Condition, now: Date): Condition {
  const known = pod.status?.conditions?.find(({ type }) => type === next.type);
  const since = known?.status === next.status ? known.lastTransitionTime : undefined;
  return { ...next, lastTransitionTime: since ?? timestamp(now) };
}

function containers(pod: Pod, ready: boolean, state: Wire<V1ContainerState>): NonNullable<Status['containerStatuses']> {
  return (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready,
    restartCount: 0,
    started: true,
    state,
    lastState: {},
  }));
}
