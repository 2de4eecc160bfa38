import nodeAffinityMutate from '../../index.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import { readAudit } from '../../../../test/real/parts/audit.ts';
import type { RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { managed, type AffinitySite } from './node-affinity-site.ts';
import { usedBy } from '../../../../test/real/support/rights.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

/** Every feature that asks for a right, and a certificate whose predecessors retire soon. */
export const everything = {
  COVERAGE: 'true',
  MANAGE_WEBHOOK: 'full',
  POLICY: 'true',
  CA_PROPAGATION_SECONDS: '0',
  CA_RETIRE_SECONDS: '1',
};

const { namespace } = standardInstallation;
const secretPath = `/api/v1/namespaces/${namespace}/secrets/node-affinity-mutate-certificates`;
const statePath = `/api/v1/namespaces/${namespace}/configmaps/node-affinity-mutate-state`;

/** Everything that the features of the events half do, once. */
export async function exercise({ cluster, client, tick }: AffinitySite, events: RealFunction): Promise<void> {
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  await tick(events);
  await client.call('DELETE', statePath);
  await applyManifest(client, rulesOf({ weight: 7 }));
  await tick(events);
  await applyManifest(client, rulesOf({ weight: 8 }));
  await tick(events); // other rules: state and policy are patched
  await applyManifest(client, rulesOf({ weight: 0 }));
  await tick(events); // wrong rules: told as an Event
  await send(
    events.url,
    binaryEvent({ type: 'dev.knative.apiserver.ref.update', apiVersion: 'v1', kind: 'Namespace', name: managed }),
  );
  await client.call('PATCH', secretPath, { ...merge, body: { data: { 'tls.key': '' } } });
  await tick(events); // a new leaf
  await client.call('DELETE', secretPath);
  await waitUntil('a new authority is old enough to ask whether all replicas show it', async () => {
    await tick(events);
    const used = usedBy(nodeAffinityMutate, 'events', readAudit(cluster), everything);
    return used.includes(`list endpointslices.discovery.k8s.io in ${namespace}`);
  });
}

function rulesOf({ weight }: { readonly weight: number }) {
  const rules = [{ name: 'pool', pool: { key: 'worker.gardener.cloud/pool', values: ['cpu-worker-0'] }, weight }];
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'node-affinity-mutate', namespace },
    data: { 'rules.yaml': JSON.stringify(rules) },
  };
}
