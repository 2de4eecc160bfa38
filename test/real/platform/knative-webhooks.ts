import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../parts/cluster.ts';
import { eventingEnvironment, installEventing, systemNamespace as eventingNamespace, untilServed } from './eventing.ts';
import { applyManifest, pathOf, type AnyManifest } from '../../support/manifests.ts';
import { moduleManifests } from '../parts/module-files.ts';
import type { PartName, ProductName } from '../parts/parts.ts';
import { waitUntil } from '../parts/wait.ts';

const servingNamespace = 'knative-serving';

/** The program by which a product of Knative judges and completes its kinds. */
interface KnativeWebhook {
  readonly part: PartName;
  readonly product: ProductName;
  readonly namespace: string;
  /** The Service that the product's webhook configurations name. */
  readonly service: string;
  /** Offset into the run's block of ports. */
  readonly port: number;
}

const webhooks: readonly KnativeWebhook[] = [
  {
    part: 'eventing-webhook',
    product: 'eventing',
    namespace: eventingNamespace,
    service: 'eventing-webhook',
    port: 10,
  },
  { part: 'serving-webhook', product: 'serving', namespace: servingNamespace, service: 'webhook', port: 11 },
];

/** The kinds and settings of Knative Eventing and Serving, judged by their own webhooks; no controller runs. */
export async function installKnative(cluster: Cluster): Promise<void> {
  const client = createClient(cluster.access);
  await Promise.all([installEventing(client), installServing(client)]);
  await Promise.all(webhooks.map((webhook) => startWebhook(cluster, client, webhook)));
  client.close();
}

async function installServing(client: Client): Promise<void> {
  await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: servingNamespace } });
  const kinds = moduleManifests('serving', 'config/core/300-resources');
  const settings = moduleManifests('serving', 'config/core/configmaps');
  await Promise.all([...kinds, ...settings].map((manifest) => applyManifest(client, manifest)));
  await untilServed(client, kinds);
}

async function startWebhook(cluster: Cluster, client: Client, webhook: KnativeWebhook): Promise<void> {
  const { part, product, namespace, service, port: offset } = webhook;
  const { site } = cluster;
  const port = site.base + offset;
  const shipped = moduleManifests(product, 'config/core/webhooks').map((manifest) => calledAt(manifest, port));
  await applyManifest(client, serviceHere(service, namespace));
  await Promise.all(shipped.map((manifest) => applyManifest(client, manifest)));
  await cluster.start({
    command: {
      name: part,
      file: site.binary(part),
      args: ['-kubeconfig', site.kubeconfig, '-disable-ha'],
      env: {
        ...eventingEnvironment,
        SYSTEM_NAMESPACE: namespace,
        WEBHOOK_NAME: service,
        WEBHOOK_PORT: String(port),
        METRICS_DOMAIN: `knative.dev/${product}`,
        POD_NAME: `${part}-0`,
        PROFILING_PORT: String(site.base + 60 + offset),
      },
    },
    probe: {
      url: `https://127.0.0.1:${port}/`,
      headers: { 'user-agent': 'kube-probe/1', 'k-kubelet-probe': 'webhook' },
      body: /^/,
    },
    port,
  });
  for (const configuration of shipped.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    await waitUntil(`${configuration.metadata.name} is trusted`, async () =>
      isTrusted((await client.call('GET', pathOf(configuration))).body),
    );
  }
}

/** The API server finds the program on this machine by a Service that is another name of it. */
function serviceHere(name: string, namespace: string): AnyManifest {
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

interface Entry {
  readonly clientConfig: { readonly caBundle?: string; readonly service: object };
}

function entriesOf(configuration: object): readonly Entry[] {
  return (configuration as { readonly webhooks?: readonly Entry[] }).webhooks ?? [];
}

function calledAt(manifest: AnyManifest, port: number): AnyManifest {
  const entries = entriesOf(manifest).map((entry) => ({
    ...entry,
    clientConfig: { service: { ...entry.clientConfig.service, port } },
  }));
  return entries.length === 0 ? manifest : { ...manifest, webhooks: entries };
}

/** The program has written its own authority and its rules. */
function isTrusted(configuration: object): boolean {
  const entries = entriesOf(configuration);
  return entries.length > 0 && entries.every(({ clientConfig }) => clientConfig.caBundle !== undefined);
}
