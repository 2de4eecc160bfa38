import type { InternalApi } from '../internal.ts';
import { startClusterRoles } from './cluster-roles.ts';
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
  const stops = [
    startDeployments(api),
    startReplicaSets(api),
    startScheduler(api),
    startKubelets(api, { podReadyMs }),
    startNodes(api),
    startDisruption(api),
    startClusterRoles(api),
    startStatefulSets(api),
    startDaemonSets(api),
    startJobs(api),
  ];
  return () => stops.forEach((stop) => stop());
}
