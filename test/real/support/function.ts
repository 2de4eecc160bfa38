import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Environment } from '../../../lib/function/config.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { partName, type Part } from '../../../lib/function/names.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../parts/cluster.ts';
import { installRights as install, tokenOf } from '../../support/account.ts';
import type { Running } from '../parts/processes.ts';
import { kubeconfigText } from '../parts/site.ts';

/** A function of the repository and the folder that holds it. */
export interface Shipped {
  readonly definition: Definition;
  readonly folder: string;
}

export interface FunctionOptions {
  /** One of the ports that a run keeps for functions, 0 to 9. */
  readonly port: number;
  /** Which half of the function. Default: the one for events. */
  readonly part?: 'events' | 'webhook';
  /** Another way to the API server than the straight one. */
  readonly server?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A function as a process of its own, under its shipped ServiceAccount. */
export interface RealFunction {
  readonly url: URL;
  readonly running: Running;
  /** The value of a counter, summed over the labels that are not named. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
}

const firstFunctionPort = 50;

/** The rights of a function on a real cluster; see `installRights` of test/support. */
export async function installRights(
  cluster: Cluster,
  { definition }: Shipped,
  environment: Environment = {},
): Promise<void> {
  const client = createClient(cluster.access);
  await install(client, definition, environment);
  client.close();
}

/** The name by which the API server knows a part of a function. */
export function usernameOf(name: string, part: Part): string {
  return `system:serviceaccount:${standardInstallation.namespace}:${partName(name, part)}`;
}

/** The path of a kubeconfig that is a part of the function, by a token that the API server issued. */
export function accountKubeconfig(
  cluster: Cluster,
  { name, part }: { readonly name: string; readonly part: Part },
  server = cluster.access.url,
): Promise<string> {
  return tokenKubeconfig(cluster, { name: partName(name, part), namespace: standardInstallation.namespace }, server);
}

/** The same for any ServiceAccount. */
export async function tokenKubeconfig(
  cluster: Cluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  server = cluster.access.url,
): Promise<string> {
  const client = createClient(cluster.access);
  const token = await tokenOf(client, { name, namespace });
  client.close();
  const file = join(cluster.site.directory, `${namespace}-${name}-${new URL(server).port}.kubeconfig`);
  writeFileSync(file, kubeconfigText({ ...cluster.access, url: server, token }), { mode: 0o600 });
  return file;
}

/** Starts a function with the environment of its shipped workload; its rights must be there. */
export async function startFunction(
  cluster: Cluster,
  { definition, folder }: Shipped,
  { port, part = 'events', server, environment = {} }: FunctionOptions,
): Promise<RealFunction> {
  const { name } = definition;
  const { directory, base } = cluster.site;
  const url = new URL(`http://127.0.0.1:${base + firstFunctionPort + port}`);
  const running = await cluster.start({
    command: {
      name: `${partName(name, part)}-${port}`,
      file: process.execPath,
      args: [join(import.meta.dirname, '../../support/serve.ts'), relative(directory, folder)],
      env: {
        ...renderFunction(definition).placeholders,
        ROLE: part === 'events' ? 'events' : 'admission',
        KUBECONFIG: await accountKubeconfig(cluster, { name, part }, server),
        POD_NAMESPACE: standardInstallation.namespace,
        PORT: url.port,
        ...environment,
      },
    },
    probe: { url: new URL('/health/readiness', url).href },
    port: Number(url.port),
  });
  return { url, running, metric: (metric, labels) => readMetric(url, metric, labels) };
}

/** The value of a counter at `/metrics` there, summed over the labels that are not named. */
export async function readMetric(
  url: URL,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
