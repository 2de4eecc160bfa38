import type { Pod } from '../../../../lib/kube/model/resource.ts';

const nodeName = 'here';

/** This machine as the scheduler sees it. */
export function nodeHere(): object {
  const capacity = { cpu: '64', memory: '256Gi', pods: '100' };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
  return {
    metadata: { name: nodeName, labels: { 'kubernetes.io/hostname': nodeName } },
    status: { capacity, allocatable: capacity, conditions },
  };
}

/** A pod that this node can run: it has nothing but our image. */
export function isHere({ spec }: Pod): boolean {
  return spec?.nodeName === nodeName && spec.containers.every(({ image = '' }) => /(^|\/)kube-reflex:/.test(image));
}

export interface Seen {
  readonly pod: Pod;
  readonly ip: string;
  readonly ready: boolean;
  readonly restarts: number;
}

/** What a kubelet says of a pod whose container runs. */
export function statusOf({ pod, ip, ready, restarts }: Seen): object {
  const [container] = pod.spec?.containers ?? [];
  const { name = '', image = '' } = container ?? {};
  const { creationTimestamp: startedAt, uid = '' } = pod.metadata ?? {};
  const status = ready ? 'True' : 'False';
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    hostIP: '10.0.0.1',
    startTime: startedAt,
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'ContainersReady', status },
      { type: 'Ready', status },
    ],
    containerStatuses: [
      {
        ...{ name, image, imageID: image, containerID: `process://${uid}`, restartCount: restarts },
        ...{ ready, started: true, state: { running: { startedAt } } },
      },
    ],
  };
}
