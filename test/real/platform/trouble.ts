import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { openWatch } from '../../../lib/sandbox/test/contract/watching.ts';
import type { SourceManifest } from './adapter.ts';
import { censusPath } from './census.ts';
import type { Cluster } from '../parts/cluster.ts';
import type { Passed } from '../support/relay.ts';

/** How many objects of a storm had their event delivered; one whose event was sent again counts once. */
export function stormCount(passed: readonly Passed[]): number {
  const added = passed.filter(({ says, status }) => says.startsWith('add default/storm-') && status === 204);
  return new Set(added.map(({ says }) => says)).size;
}

/** A source that sees only Ingresses with these labels. */
export function selecting(matchLabels: Record<string, string>): SourceManifest {
  return {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'ApiServerSource',
    metadata: { name: 'selecting', namespace: standardInstallation.namespace },
    spec: {
      mode: 'Reference',
      serviceAccountName: 'host-census-source',
      namespaceSelector: {},
      resources: [{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', selector: { matchLabels } }],
    },
  };
}

/** In the order in which they sort. */
export function stormNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `storm-${String(index).padStart(4, '0')}`);
}

/** Every state of the census, as a watch shows it. */
export async function followHosts(
  client: Client,
): Promise<{ states: () => readonly Set<string>[]; close: () => void }> {
  const collection = censusPath.replace(/\/[^/]+$/, '');
  const watch = await openWatch(client, collection, { fieldSelector: 'metadata.name=host-census' });
  const states: Set<string>[] = [];
  async function follow(): Promise<void> {
    for (let event = await watch.change(); event !== undefined; event = await watch.change()) {
      states.push(new Set((event.object.data?.['hosts'] ?? '').split('\n').filter(Boolean)));
    }
  }
  void follow();
  return { states: () => states, close: () => watch.close() };
}

/** Writes to the census as fast as it can; `stop` resolves with the last value written. */
export function keepTouching(cluster: Cluster): { readonly stop: () => Promise<string> } {
  const client = createClient(cluster.access);
  let going = true;
  let count = 0;
  async function touch(): Promise<void> {
    while (going) {
      count += 1;
      await client.call('PATCH', censusPath, {
        body: { metadata: { annotations: { touched: String(count) } } },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    }
  }
  const touching = touch();
  return {
    stop: async () => {
      going = false;
      await touching;
      client.close();
      return String(count);
    },
  };
}
