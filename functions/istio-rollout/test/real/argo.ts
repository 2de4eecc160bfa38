import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { rolloutDefinition } from './rollouts.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { mergePatch } from '../../../../test/real/support/workloads.ts';

/** A Rollout named `canary` in the namespace `shop`, and as much of Argo's controller as a restart needs. */
export interface Argo {
  readonly path: string;
  readonly template: object;
  /** What the controller does: it replaces the pod of a Rollout that is to be restarted, and says so. */
  readonly play: () => Promise<void>;
}

const collection = '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts';
const path = `${collection}/canary`;
const labels = { app: 'canary' };
const spec = { containers: [{ name: 'app', image: 'app' }] };
const template = { metadata: { labels }, spec };

export async function startArgo(client: Client): Promise<Argo> {
  await applyManifest(client, rolloutDefinition);
  await waitUntil('the CRD is served', async () => (await client.call('GET', collection)).code === 200);
  const body = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'canary' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
  expectCode(201, await client.call('POST', collection, { body }));
  await play(client);
  return { path, template, play: () => play(client) };
}

async function play(client: Client): Promise<void> {
  const { metadata = {}, spec: wanted, status = {} } = expectCode(200, await client.call('GET', path));
  const { generation = 1, uid = '' } = metadata;
  if ((status as { readonly observedGeneration?: string }).observedGeneration === String(generation)) {
    return;
  }
  await client.call('DELETE', `/api/v1/namespaces/shop/pods/canary-${generation - 1}`);
  const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'canary', uid, controller: true };
  const pod = { metadata: { name: `canary-${generation}`, labels, ownerReferences: [owner] }, spec };
  expectCode(201, await client.call('POST', '/api/v1/namespaces/shop/pods', { body: pod }));
  const restartedAt = wanted?.['restartAt'];
  const now = {
    phase: 'Healthy',
    observedGeneration: String(generation),
    ...(restartedAt !== undefined && { restartedAt }),
  };
  await mergePatch(client, `${path}/status`, { status: now });
}
