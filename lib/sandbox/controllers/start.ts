import type { InternalApi } from '../internal.ts';
import { startGarbageCollector } from '../garbage.ts';
import { startNamespaces } from '../namespaces.ts';
import { startDeployments } from './deployment.ts';
import { startDisruption } from './disruption.ts';
import { startKubelets } from './kubelet.ts';
import { startNodes } from './nodes.ts';
import { startReplicaSets } from './replica-set.ts';
import { startScheduler } from './scheduler.ts';

export interface ControllersOptions {
  /** How long a pod takes to become ready when it does not say so itself. */
  readonly podReadyMs?: number;
  /** PEM certificate of the API, published in every namespace. */
  readonly ca?: string;
}

const defaultPodReadyMs = 1000;

/** Starts everything that moves objects by itself. The answer stops it all. */
export function startControllers(
  api: InternalApi,
  { podReadyMs = defaultPodReadyMs, ca }: ControllersOptions = {},
): () => void {
  const stops = [
    startDeployments(api),
    startReplicaSets(api),
    startScheduler(api),
    startKubelets(api, { podReadyMs }),
    startNodes(api),
    startNamespaces(api, ca),
    startGarbageCollector(api),
    startDisruption(api),
  ];
  return () => stops.forEach((stop) => stop());
}
