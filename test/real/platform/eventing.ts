import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { waitUntil } from '../parts/wait.ts';
import { applyManifest, pathOf, type AnyManifest } from '../../support/manifests.ts';
import { moduleManifests } from '../parts/module-files.ts';

export const systemNamespace = 'knative-eventing';

/** The environment of every program of Knative Eventing. */
export const eventingEnvironment = {
  SYSTEM_NAMESPACE: systemNamespace,
  NAMESPACE: systemNamespace,
  CONFIG_LOGGING_NAME: 'config-logging',
  CONFIG_OBSERVABILITY_NAME: 'config-observability',
  K_LOGGING_CONFIG: '{}',
  K_OBSERVABILITY_CONFIG: '{}',
};

/** Installs Knative Eventing's kinds and settings, with none of its controllers. */
export async function installEventing(client: Client): Promise<void> {
  await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
  const kinds = moduleManifests('eventing', 'config/core/resources').map(unconverted);
  const settings = moduleManifests('eventing', 'config/core/configmaps');
  await Promise.all([...kinds, ...settings].map((manifest) => applyManifest(client, manifest)));
  await untilServed(client, kinds);
}

/** Resolves when the API server serves all of these kinds. */
export async function untilServed(client: Client, kinds: readonly AnyManifest[]): Promise<void> {
  for (const kind of kinds) {
    await waitUntil(`${kind.metadata.name} is served`, async () =>
      isEstablished((await client.call('GET', pathOf(kind))).body),
    );
  }
}

/** A webhook that is not there would have to convert old versions, which nobody uses here. */
export function unconverted(manifest: AnyManifest): AnyManifest {
  const spec = { ...(manifest['spec'] as object), conversion: { strategy: 'None' } };
  return { ...manifest, spec };
}

function isEstablished({ status }: { readonly status?: unknown }): boolean {
  const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null };
  return (conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** The condition that controllers write when all is well; without a time it is refused. */
export function ready(): object {
  return { type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() };
}
