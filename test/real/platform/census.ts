import { join } from 'node:path';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { createClient, type Body, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import hostCensus from '../../functions/host-census/index.ts';
import { settledAudit, type AuditEvent } from '../parts/audit.ts';
import type { Cluster } from '../parts/cluster.ts';
import { usernameOf, type Shipped } from '../support/function.ts';
import { waitUntil } from '../parts/wait.ts';

/** The sample function, as it ships. */
export const shipped: Shipped = {
  definition: hostCensus,
  folder: join(import.meta.dirname, '../../functions/host-census'),
};

export const censusUser = usernameOf('host-census', 'events');
export const censusPath = `/api/v1/namespaces/${standardInstallation.namespace}/configmaps/host-census`;

const everyIngress = '/apis/networking.k8s.io/v1/ingresses';
const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const writing = new Set(['create', 'patch', 'update', 'delete']);

/** What the sample function reads and writes, seen from outside. */
export interface Census {
  readonly client: Client;
  /** Makes an Ingress that asks for a host. */
  readonly ask: (name: string, host: string, labels?: Readonly<Record<string, string>>) => Promise<Body>;
  readonly withdraw: (name: string) => Promise<void>;
  /** The hosts in the census; `undefined` while there is none. */
  readonly hosts: () => Promise<readonly string[] | undefined>;
  readonly untilHosts: (hosts: readonly string[]) => Promise<void>;
  /** All answered requests of the function since this census was opened. */
  readonly calls: () => Promise<readonly AuditEvent[]>;
  /** How many of them changed something. */
  readonly writes: () => Promise<number>;
  readonly close: () => void;
}

/** Removes the census and all Ingresses first: a scenario begins with nothing. */
export async function openCensus(cluster: Cluster): Promise<Census> {
  const client = createClient(cluster.access);
  await clear(client);
  const before = (await settledAudit(cluster, client)).length;

  async function hosts(): Promise<readonly string[] | undefined> {
    const reply = await client.call('GET', censusPath);
    return reply.code === 404 ? undefined : (expectCode(200, reply).data?.['hosts'] ?? '').split('\n').filter(Boolean);
  }

  async function calls(): Promise<AuditEvent[]> {
    const audit = await settledAudit(cluster, client);
    return audit.slice(before).filter(({ user }) => user.username === censusUser);
  }

  return {
    client,
    hosts,
    calls,
    ask: async (name, host, labels = {}) =>
      expectCode(201, await client.call('POST', ingresses, { body: ingress(name, host, labels) })),
    withdraw: async (name) => {
      expectCode(200, await client.call('DELETE', `${ingresses}/${name}`));
    },
    untilHosts: (wanted) => {
      const text = wanted.toSorted().join();
      return waitUntil(`the census says ${text.slice(0, 200)}`, async () => (await hosts())?.join() === text);
    },
    writes: async () => (await calls()).filter(isWrite).length,
    close: () => client.close(),
  };
}

/** A request that changed something. */
export function isWrite({ verb, responseStatus }: AuditEvent): boolean {
  return writing.has(verb) && (responseStatus?.code ?? 500) < 300;
}

async function clear(client: Client): Promise<void> {
  const { items = [] } = expectCode(200, await client.call('GET', everyIngress));
  const places = new Set(items.map(({ metadata }) => metadata?.namespace ?? ''));
  for (const namespace of places) {
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`;
    expectCode(200, await client.call('DELETE', path));
  }
  await client.call('DELETE', censusPath);
}

function ingress(name: string, host: string, labels: Readonly<Record<string, string>>): object {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
  return { metadata: { name, labels }, spec: { rules: [{ host, http }] } };
}
