import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../parts/cluster.ts';
import { eventingEnvironment, ready } from './eventing.ts';
import { applyManifest, patchStatus, type AnyManifest } from '../../support/manifests.ts';
import type { Running } from '../parts/processes.ts';

/** Starts the program that serves all PingSources; Knative Eventing's kinds must be installed. */
export function startPing(cluster: Cluster): Promise<Running> {
  const { site } = cluster;
  return cluster.start({
    command: {
      name: 'mtping',
      file: site.binary('mtping'),
      args: ['-disable-ha'],
      env: {
        ...eventingEnvironment,
        NAME: 'pingsource-mt-adapter',
        POD_NAME: 'mtping-0',
        K_NO_SHUTDOWN_AFTER: '0',
        KUBECONFIG: site.kubeconfig,
        PROFILING_PORT: String(site.base + 60 + cluster.running().length),
      },
    },
  });
}

/** Creates a PingSource and says of it what its controller would: it is ready, and this is its sink. */
export async function tickTo(client: Client, source: AnyManifest, sink: URL): Promise<void> {
  const { metadata } = await applyManifest(client, source);
  await patchStatus(client, source, {
    observedGeneration: metadata?.generation,
    sinkUri: sink.href,
    conditions: [ready()],
  });
}
