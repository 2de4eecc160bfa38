import type { Definition } from '../../../lib/function/definition.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { partName } from '../../../lib/function/names.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import type { Cluster } from '../parts/cluster.ts';
import { applyManifest, pathOf } from '../../support/manifests.ts';

/** One of the ports that a run keeps for webhooks. */
export function webhookPort({ site }: Cluster, replica = 0): number {
  return site.base + 10 + replica;
}

/** Settings of a webhook whose certificate is trusted by nobody else yet, so that nobody has to be waited for. */
export function webhookSettings(port: number): Readonly<Record<string, string>> {
  return { TLS_PORT: String(port), CA_PROPAGATION_SECONDS: '0', CERT_POLL_SECONDS: '1' };
}

/** Lets the API server ask at a port of this machine. Whom to trust there, the function itself writes down. */
export async function registerWebhooks(client: Client, definition: Definition, port: number): Promise<void> {
  await applyManifest(client, serviceHere(definition));
  for (const configuration of webhookConfigurationsOf(definition)) {
    await applyManifest(client, reaching(configuration, port));
  }
}

export async function unregisterWebhooks(client: Client, definition: Definition): Promise<void> {
  for (const configuration of webhookConfigurationsOf(definition)) {
    expectCode(200, await client.call('DELETE', pathOf(configuration)));
  }
}

/** As they ship. */
export function webhookConfigurationsOf(definition: Definition): Manifest[] {
  return renderFunction(definition).manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
}

/** The shipped Service, on a machine without cluster networking. */
function serviceHere({ name }: Definition): Manifest {
  const metadata = { name: partName(name, 'webhook'), namespace: standardInstallation.namespace };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'ExternalName', externalName: 'localhost' } };
}

interface Webhook {
  readonly clientConfig: { readonly service: object };
}

function reaching(configuration: Manifest, port: number): Manifest {
  const webhooks = (configuration['webhooks'] as Webhook[]).map((webhook) => ({
    ...webhook,
    clientConfig: { service: { ...webhook.clientConfig.service, port } },
  }));
  return { ...configuration, webhooks };
}
