import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../parts/cluster.ts';
import { eventingEnvironment } from './eventing.ts';
import { applyManifest, patchStatus, type AnyManifest } from '../../support/manifests.ts';
import type { PartName } from '../parts/parts.ts';
import type { Running } from '../parts/processes.ts';

/** The doors of the multi-tenant Broker. Between them, where a Channel would be, there is nothing. */
export interface BrokerDoors {
  readonly ingress: URL;
  readonly filter: URL;
}

/** Starts broker ingress and filter; Knative Eventing's kinds must be installed. */
export async function startBrokerDoors(cluster: Cluster): Promise<BrokerDoors> {
  const port = cluster.site.base + 30;
  await Promise.all([
    startDoor(cluster, 'broker-ingress', { INGRESS_PORT: String(port), INGRESS_PORT_HTTPS: String(port + 1) }),
    startDoor(cluster, 'broker-filter', { FILTER_PORT: String(port + 2), FILTER_PORT_HTTPS: String(port + 3) }),
  ]);
  return { ingress: new URL(`http://127.0.0.1:${port}`), filter: new URL(`http://127.0.0.1:${port + 2}`) };
}

function startDoor(cluster: Cluster, name: PartName, ports: Readonly<Record<string, string>>): Promise<Running> {
  const { site } = cluster;
  const [port = ''] = Object.values(ports);
  return cluster.start({
    command: {
      name,
      file: site.binary(name),
      args: [],
      env: {
        ...eventingEnvironment,
        ...ports,
        POD_NAME: `${name}-0`,
        CONTAINER_NAME: name,
        KUBECONFIG: site.kubeconfig,
        PROFILING_PORT: String(site.base + 60 + (Number(port) % 10)),
      },
    },
    probe: { url: `http://127.0.0.1:${port}/healthz`, headers: { 'user-agent': 'kube-probe/1' }, body: /^/ },
    port: Number(port),
  });
}

/**
 * Creates a Trigger and a Broker of its own for it, and says of them what their controllers would. Resolves with the
 * address that takes the Broker's events: they go straight to the filter, and from there to the subscriber.
 */
export async function openTrigger(
  client: Client,
  trigger: AnyManifest,
  { doors, subscriber }: { readonly doors: BrokerDoors; readonly subscriber: URL },
): Promise<URL> {
  const { name, namespace = '' } = trigger.metadata;
  const broker = { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', metadata: { name, namespace } };
  await applyManifest(client, { ...broker, spec: {} });
  const made = await applyManifest(client, { ...trigger, spec: { ...(trigger['spec'] as object), broker: name } });
  const uid = made.metadata?.uid ?? '';
  await patchStatus(client, trigger, { subscriberUri: subscriber.href });
  await patchStatus(client, broker, {
    annotations: { 'knative.dev/channelAddress': new URL(`/triggers/${namespace}/${name}/${uid}`, doors.filter).href },
  });
  return new URL(`/${namespace}/${name}`, doors.ingress);
}
