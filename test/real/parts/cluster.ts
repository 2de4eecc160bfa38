import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findBinary, placesOf } from './binaries.ts';
import { controlPlane, portOf, type ControlPlanePart, type Site } from './control-plane.ts';
import { isPart, versionOf, type PartName } from './parts.ts';
import { reservePorts, type Ports } from './ports.ts';
import { createProcesses, type Processes, type Running } from './processes.ts';
import { untilReady, type Service } from './ready.ts';
import { createRunDirectory, writeRecord } from './runs.ts';
import { adminToken, kubeconfigText, prepareSite, type Access } from './site.ts';

export interface ClusterOptions {
  /** What runs beside etcd and the API server. */
  readonly parts?: readonly ControlPlanePart[];
  /** Further flags, by part. */
  readonly flags?: Readonly<Partial<Record<ControlPlanePart, readonly string[]>>>;
  /** Whether `npm run real -- down` may end it. */
  readonly byHand?: boolean;
}

/** Real programs on ports and in a directory of their own. */
export interface Cluster extends AsyncDisposable {
  readonly site: Site;
  readonly access: Access;
  running(): readonly Running[];
  part(name: string): Running;
  /** Starts a further program and waits until it serves. */
  start(service: Service): Promise<Running>;
  /** Kills a part and starts it again as it was. */
  restart(name: string): Promise<Running>;
  /** Ends everything. The directory with the logs stays if asked for. */
  stop(options?: { readonly keepLogs?: boolean }): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const ports = await reservePorts();
  const directory = createRunDirectory();
  const cluster = assemble({ ports, directory, processes: createProcesses(directory), options });
  try {
    prepareSite(directory);
    await boot(cluster, options);
    return cluster;
  } catch (error) {
    await cluster.stop({ keepLogs: true });
    throw error;
  }
}

/** The program of a part, or an error that says how to get it. */
export function binary(name: PartName): string {
  const path = findBinary(name, placesOf(process.env));
  if (path === undefined) {
    throw new Error(`${name} ${versionOf(name)} is not built: npm run real -- build ${name}`);
  }
  return path;
}

/** We know the version of what we built; what someone else provides may be of any. */
function versionOfFile(name: string, file: string): string {
  const { cache } = placesOf(process.env);
  return isPart(name) && file.startsWith(cache) ? versionOf(name) : 'provided';
}

/** Whoever runs suites learns only after their clusters are gone whether the logs are of interest. */
function handOverLogs(directory: string, to: string | undefined): void {
  if (to !== undefined) {
    const logs = readdirSync(directory).filter((name) => name.endsWith('.log'));
    const target = join(to, basename(directory));
    mkdirSync(target, { recursive: true });
    for (const name of logs) {
      copyFileSync(join(directory, name), join(target, name));
    }
  }
}

async function boot(cluster: Cluster, { parts = [], flags = {} }: ClusterOptions): Promise<void> {
  const order: readonly ControlPlanePart[] = ['etcd', 'kube-apiserver'];
  for (const name of order) {
    await cluster.start(controlPlane[name](cluster.site, flags[name]));
  }
  writeFileSync(cluster.site.kubeconfig, kubeconfigText(cluster.access), { mode: 0o600 });
  const rest = [...new Set(parts)].filter((name) => !order.includes(name));
  await Promise.all(rest.map((name) => cluster.start(controlPlane[name](cluster.site, flags[name]))));
}

interface Ground {
  readonly ports: Ports;
  readonly directory: string;
  readonly processes: Processes;
  readonly options: ClusterOptions;
}

function assemble({ ports, directory, processes, options }: Ground): Cluster {
  const site: Site = { directory, base: ports.base, kubeconfig: join(directory, 'kubeconfig'), binary };
  const url = `https://127.0.0.1:${ports.base + portOf.apiserver}`;
  const services = new Map<string, Service>();

  function record(): void {
    const parts = processes.running().map(({ name, pid, command }) => {
      const port = services.get(name)?.port;
      return { name, pid, version: versionOfFile(name, command.file), ...(port === undefined ? {} : { port }) };
    });
    writeRecord({ owner: process.pid, directory, parts, byHand: options.byHand ?? false });
  }

  async function start(service: Service): Promise<Running> {
    const running = await processes.start(service.command);
    services.set(running.name, service);
    record();
    if (service.probe !== undefined) {
      await untilReady(running, service.probe);
    }
    return running;
  }

  function part(name: string): Running {
    const found = processes.running().find((running) => running.name === name);
    if (found === undefined) {
      throw new Error(`${name} does not run`);
    }
    return found;
  }

  async function restart(name: string): Promise<Running> {
    await part(name).stop();
    return start(services.get(name) ?? { command: part(name).command });
  }

  async function stop({ keepLogs = false } = {}): Promise<void> {
    await processes.stopAll();
    await ports.release();
    if (!keepLogs) {
      handOverLogs(directory, process.env['REAL_LOGS']);
      rmSync(directory, { recursive: true, force: true });
    }
  }

  return {
    site,
    get access() {
      return { url, ca: readFileSync(join(directory, 'certs/apiserver.crt'), 'utf8'), token: adminToken };
    },
    running: () => processes.running(),
    part,
    start,
    restart,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}
