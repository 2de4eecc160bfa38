import nodeAffinityMutate from '../../functions/node-affinity-mutate/index.ts';
import { parseConfig } from '../../lib/function/config.ts';
import type { Permission } from '../../lib/function/define.ts';
import { renderFunction } from '../../lib/manifests/function-manifests.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { binaryEvent, send } from '../http.ts';
import { readAudit, type AuditEvent } from './audit.ts';
import { usernameOf, type RealFunction } from './function.ts';
import { applyManifest } from './manifests.ts';
import { managed, type AffinitySite } from './node-affinity-site.ts';
import { waitUntil } from './wait.ts';

/** Every feature that asks for a right, and a certificate whose predecessors retire soon. */
export const everything = {
  COVERAGE: 'true',
  MANAGE_WEBHOOK: 'full',
  POLICY: 'true',
  CA_PROPAGATION_SECONDS: '0',
  CA_RETIRE_SECONDS: '1',
};

type Part = 'events' | 'webhook';

/** What a part is granted with these settings: `list nodes`, `patch configmaps node-affinity-mutate-state`. */
export function grantedTo(part: Part, environment: Readonly<Record<string, string>>): string[] {
  const rights = permissionsOf(part, environment).flatMap(({ names, ...permission }) =>
    kindsOfCalls(permission).flatMap((call) => names?.map((name) => `${call} ${name}`) ?? [call]),
  );
  return [...new Set(rights)].sort();
}

/** What a part did, in the same words: with the names of objects where those that it may touch are named. */
export function usedBy(
  part: Part,
  audit: readonly AuditEvent[],
  environment: Readonly<Record<string, string>>,
): string[] {
  const username = usernameOf(nodeAffinityMutate.name, part);
  const limited = permissionsOf(part, environment).filter(({ names }) => names !== undefined);
  const named = new Set(limited.flatMap(kindsOfCalls));
  const rights = audit
    .filter(({ user }) => user.username === username)
    .flatMap((event) =>
      callsIn(event).map((call) => (named.has(call) ? `${call} ${event.objectRef?.name ?? ''}` : call)),
    );
  return [...new Set(rights)].sort();
}

function permissionsOf(part: Part, environment: Readonly<Record<string, string>>): readonly Permission[] {
  const { placeholders } = renderFunction(nodeAffinityMutate);
  const config = parseConfig(nodeAffinityMutate.config, { ...placeholders, ...environment });
  const role = part === 'events' ? 'events' : 'admission';
  return (nodeAffinityMutate.permissions?.(config, standardSite) ?? []).filter(
    (permission) => permission.role === undefined || permission.role === role,
  );
}

function kindsOfCalls({ groups, resources, verbs }: Permission): string[] {
  return groups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${fullName(resource, group)}`)),
  );
}

/** A server-side apply that makes an object takes the right to create it as well. */
function callsIn({ verb, objectRef, responseStatus }: AuditEvent): string[] {
  const resource = fullName(objectRef?.resource ?? '', objectRef?.apiGroup ?? '');
  const created = verb === 'patch' && responseStatus?.code === 201;
  return [`${verb} ${resource}`, ...(created ? [`create ${resource}`] : [])];
}

function fullName(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

const { namespace } = standardSite;
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
    return usedBy('events', readAudit(cluster), everything).includes('list endpointslices.discovery.k8s.io');
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
