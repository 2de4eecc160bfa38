import type { InternalApi } from '../model/internal.ts';
import { startDaemonSets } from './daemon-set.ts';
import { startDeployments } from './deployment.ts';
import { startDisruption } from './disruption.ts';
import { startJobs } from './job.ts';
import { startKubelets } from './kubelet.ts';
import { startNodes } from './nodes.ts';
import { startReplicaSets } from './replica-set.ts';
import { startScheduler } from './scheduler.ts';
import { startStatefulSets } from './stateful-set.ts';

export interface ControllersOptions {
  /** How long a pod takes to become ready when it does not say so itself. */
  readonly podReadyMs?: number;
}

const defaultPodReadyMs = 1000;

/** Starts what moves workloads, pods and nodes. The answer stops it all. */
export function startControllers(
  api: InternalApi,
  { podReadyMs = defaultPodReadyMs }: ControllersOptions = {},
): () => void {
  const { api: held, stop: stopWrites } = stoppable(api);
  const stops = [
    stopWrites,
    startDeployments(held),
    startReplicaSets(held),
    startStatefulSets(held),
    startDaemonSets(held),
    startJobs(held),
    startScheduler(held),
    startKubelets(held, { podReadyMs }),
    startNodes(held),
    startDisruption(held),
  ];
  return () => stops.forEach((stop) => stop());
}

/** After `stop` nothing is written any more, however long the work under way: a large rollout ends at once. */
function stoppable(api: InternalApi): { readonly api: InternalApi; readonly stop: () => void } {
  let isStopped = false;
  function ifRunning<T>(write: () => Promise<T>): Promise<T> {
    return isStopped ? Promise.reject(new Error('the controllers have stopped')) : write();
  }
  return {
    api: {
      ...api,
      create: (...write) => ifRunning(() => api.create(...write)),
      update: (...write) => ifRunning(() => api.update(...write)),
      remove: (...write) => ifRunning(() => api.remove(...write)),
    },
    stop() {
      isStopped = true;
    },
  };
}
