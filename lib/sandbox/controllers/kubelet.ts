import type { Pod } from '../../kube/model/resource.ts';
import type { Caller, InternalApi } from '../model/internal.ts';
import { pods } from './kinds.ts';
import { keyOf, parseKey } from './owned.ts';
import { hasEnded, isReady, isTerminating } from './pod.ts';
import { completed, readiness, running } from './pod-status.ts';
import { createQueue } from './queue.ts';
import { isGone } from './writes.ts';

export interface KubeletOptions {
  /** How long a pod takes to become ready when it does not say so itself. */
  readonly podReadyMs: number;
}

/** Plays the nodes: starts pods, makes them ready in time, lets deleted ones go. The answer stops it. */
export function startKubelets(api: InternalApi, { podReadyMs }: KubeletOptions): () => void {
  const started = new Map<string, number>();
  const queue = createQueue(api.clock, look, { workers: 16 });
  let addresses = 0;

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const pod = api.get(pods, name, namespace) as Pod | undefined;
    if (pod === undefined || (pod.spec?.nodeName ?? '') === '') {
      return;
    }
    if (isTerminating(pod)) {
      await letGo(pod);
    } else if (!hasEnded(pod) && !isReady(pod)) {
      await advance(pod);
    }
  }

  async function advance(pod: Pod): Promise<void> {
    const now = api.now();
    const waitMs = timeToReady(pod, now);
    const address = addressOf(pod);
    if (waitMs <= 0) {
      const isTask = pod.spec?.restartPolicy !== 'Always';
      await write(pod, isTask ? completed(pod, address, now) : running(pod, { address, isReady: true, now }));
      return;
    }
    if (pod.status?.phase !== 'Running') {
      await write(pod, running(pod, { address, isReady: false, now }));
    }
    if (Number.isFinite(waitMs)) {
      queue.addAfter(keyOf(pod), waitMs);
    }
  }

  function timeToReady(pod: Pod, now: Date): number {
    const uid = pod.metadata?.uid ?? '';
    const since = started.get(uid) ?? now.getTime();
    started.set(uid, since);
    const { isNever, afterMs } = readiness(pod, podReadyMs);
    return isNever ? Infinity : since + afterMs - now.getTime();
  }

  function addressOf(pod: Pod): string {
    if (pod.status?.podIP !== undefined) {
      return pod.status.podIP;
    }
    addresses += 1;
    return `10.${244 + Math.floor(addresses / 62_500)}.${Math.floor(addresses / 250) % 250}.${(addresses % 250) + 1}`;
  }

  async function write(pod: Pod, status: NonNullable<Pod['status']>): Promise<void> {
    const next: Pod = { ...pod, status };
    await api.update(pods, next, { subresource: 'status' }, kubelet(pod));
  }

  async function letGo(pod: Pod): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    try {
      await api.remove(pods, { name, namespace }, { uid, gracePeriodSeconds: 0 }, kubelet(pod));
    } catch (error) {
      if (!isGone(error)) {
        throw error;
      }
    }
  }

  const unsubscribe = api.subscribe(pods, ({ type, object }) => {
    if (type === 'DELETED') {
      started.delete(object.metadata?.uid ?? '');
    } else {
      queue.add(keyOf(object));
    }
  });
  for (const pod of api.list(pods)) {
    queue.add(keyOf(pod));
  }
  return () => {
    queue.close();
    unsubscribe();
  };
}

function kubelet({ spec }: Pod): Caller {
  return { username: `system:node:${spec?.nodeName ?? ''}`, groups: ['system:nodes', 'system:authenticated'] };
}
