import { inParallel } from '../../../../lib/base/in-parallel.ts';
import type { Body, Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { application, cronJob } from '../objects.ts';
import { lasting } from '../world.ts';
import { argoPaths, installArgoCd } from '../../../../test/real/support/argo-cd.ts';
import type { Cluster } from '../../../../test/real/parts/cluster.ts';
import { portOf } from '../../../../test/real/parts/control-plane.ts';

const paths = {
  cronjobs: '/apis/batch/v1/namespaces/prod/cronjobs',
  applications: argoPaths.applications,
} as const;

/** CronJobs, some of which rest already, and Applications with and without autosync. */
export interface Crowd {
  readonly size: number;
  /** All of it as it is now, by name, without what every write changes. */
  readonly now: () => Promise<readonly object[]>;
  /** How many of them are marked as held. */
  readonly held: () => Promise<number>;
  /** Labels each CronJob as its owner would, beside whatever else happens to it. */
  readonly label: (key: string) => Promise<void>;
}

/** Makes the kind of Applications and the namespaces of the crowd. */
export async function prepareForCrowd(client: Client): Promise<void> {
  const body = { metadata: { name: 'prod', labels: { env: 'prod' } } };
  expectCode(201, await client.call('POST', '/api/v1/namespaces', { body }));
  await installArgoCd(client);
}

export async function makeCrowd(client: Client, jobs: number, apps: number): Promise<Crowd> {
  const kinds = Object.values(paths);
  await inParallel(16, numbers(jobs), (index) => create(paths.cronjobs, job(index)));
  await inParallel(16, numbers(apps), (index) => create(paths.applications, app(index)));

  async function create(path: string, body: object): Promise<void> {
    expectCode(201, await client.call('POST', path, { body }));
  }

  async function all(): Promise<readonly Body[]> {
    const lists = await Promise.all(kinds.map((path) => client.call('GET', path)));
    return lists.flatMap(({ body }) => body.items ?? []);
  }

  return {
    size: jobs + apps,
    now: async () => (await all()).map(lasting),
    held: async () => (await all()).filter(isHeld).length,
    label: async (key) => {
      await inParallel(4, numbers(jobs), async (index) => {
        const call = { body: { metadata: { labels: { [key]: 'yes' } } }, headers: merge };
        expectCode(200, await client.call('PATCH', `${paths.cronjobs}/job-${index}`, call));
      });
    },
  };
}

export async function removeCrowd(client: Client): Promise<void> {
  for (const path of Object.values(paths)) {
    expectCode(200, await client.call('DELETE', path));
  }
}

function isHeld({ metadata }: Body): boolean {
  return metadata?.annotations?.['freeze-operator.io/managed-by-kind'] !== undefined;
}

const merge = { 'content-type': 'application/merge-patch+json' };

function job(index: number): object {
  const { metadata, spec } = cronJob(`job-${index}`, index % 7 === 0);
  return { metadata, spec: { ...spec, schedule: '0 3 1 1 *' } };
}

function app(index: number): object {
  const automated = index % 5 === 0 ? undefined : { prune: index % 2 === 0, selfHeal: true };
  return { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', ...application(`app-${index}`, automated) };
}

export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** How often each object of the crowd was written since it was made, by whomever: etcd counts, and misses none. */
export async function writesTo({ site }: Cluster): Promise<Readonly<Record<keyof typeof paths, readonly number[]>>> {
  async function count(prefix: string): Promise<readonly number[]> {
    const key = Buffer.from(prefix).toString('base64');
    const range_end = Buffer.from(prefix.replace(/\/$/, '0')).toString('base64'); // '0' comes right after '/'
    const reply = await fetch(`http://127.0.0.1:${site.base + portOf.etcd}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify({ key, range_end, keys_only: true }),
    });
    const { kvs = [] } = (await reply.json()) as { readonly kvs?: readonly { readonly version: string }[] };
    return kvs.map(({ version }) => Number(version) - 1);
  }
  return {
    cronjobs: await count('/registry/cronjobs/prod/'),
    applications: await count('/registry/argoproj.io/applications/argocd/'),
  };
}
