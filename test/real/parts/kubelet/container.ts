import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../../../deploy/launch.ts';
import type { Pod } from '../../../../lib/kube/model/resource.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../cluster.ts';
import type { Command } from '../processes.ts';
import { accepted } from './accepted.ts';

export interface Ground {
  readonly cluster: Cluster;
  readonly client: Client;
  /** What the image holds as `/app`. */
  readonly app: string;
  /** Where processes read the way to addresses of the cluster. */
  readonly routes: string;
}

const account = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The only container of a pod as a process: its own environment and arguments, and nothing that its manifest lacks. */
export function commandOf(
  pod: Pod,
  { cluster, app, routes }: Ground,
  ports: Readonly<Record<number, number>>,
): Command {
  const [container] = pod.spec?.containers ?? [];
  const { hostname, port } = new URL(cluster.access.url);
  const { flags, environment } = launch({ compileCache: join(app, 'cache') });
  const given = Object.fromEntries((container?.env ?? []).map(({ name, value = '' }) => [name, value]));
  const { NODE_OPTIONS: memory } = { ...environment, ...given };
  const options = [memory, `--require ${join(import.meta.dirname, 'pod.cjs')}`];
  const here = { mounts: mountsOf(pod, cluster), ports, routes };
  return {
    name: pod.metadata?.name ?? '',
    file: process.execPath,
    args: [...flags, join(app, 'kube-reflex.cjs'), ...(container?.args ?? [])],
    env: {
      ...environment,
      ...given,
      ...{ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      ...{ NODE_OPTIONS: options.join(' ').trim(), POD_HERE: JSON.stringify(here) },
    },
  };
}

function mountsOf(pod: Pod, cluster: Cluster): Readonly<Record<string, string>> {
  const [container] = pod.spec?.containers ?? [];
  const mounts = (container?.volumeMounts ?? []).filter(({ mountPath }) => mountPath !== account);
  return Object.fromEntries([
    [account, directoryOf('account', pod, cluster)],
    ...mounts.map(({ name, mountPath }) => [mountPath, directoryOf(name, pod, cluster)] as const),
  ]);
}

function directoryOf(volume: string, { metadata }: Pod, { site }: Cluster): string {
  return join(site.directory, 'pods', metadata?.uid ?? '', volume);
}

/** Who the pod is: a token that ends with it, whom to trust, and where it lives. */
export async function writeAccount(pod: Pod, { client, cluster }: Ground): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.spec?.serviceAccountName ?? ''}/token`;
  const spec = { expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } };
  const { status } = accepted('a token', await client.call('POST', path, { body: { spec } }));
  const { token } = status as { readonly token: string };
  writeFiles(directoryOf('account', pod, cluster), { token, namespace, 'ca.crt': cluster.access.ca });
}

/** Writes its ConfigMaps as they are now. Returns whether all that it can't do without are there. */
export async function writeVolumes(pod: Pod, { client, cluster }: Ground): Promise<boolean> {
  const volumes = (pod.spec?.volumes ?? []).filter(({ configMap }) => configMap !== undefined);
  const there = await Promise.all(
    volumes.map(async ({ name: volume, configMap }) => {
      const { name = '', optional = false } = configMap ?? {};
      const path = `/api/v1/namespaces/${pod.metadata?.namespace ?? ''}/configmaps/${name}`;
      const reply = await client.call('GET', path);
      const files = reply.code === 404 ? undefined : (accepted(path, reply).data ?? {});
      writeFiles(directoryOf(volume, pod, cluster), files ?? {});
      return files !== undefined || optional;
    }),
  );
  return there.every(Boolean);
}

/** Processes read them at any time: each is there as it was or as it is now, never half. */
function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(directory).filter((each) => files[each] === undefined)) {
    rmSync(join(directory, name));
  }
  for (const [name, text] of Object.entries(files)) {
    const file = join(directory, name);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    }
  }
}
