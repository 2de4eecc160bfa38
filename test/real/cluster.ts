import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from './binaries.ts';
import { apiServer, controllerManager, etcd, portOf, scheduler, type Site } from './control-plane.ts';
import { reservePorts, type Ports } from './ports.ts';
import { createProcesses, type Command, type Processes, type Running } from './processes.ts';
import { untilReady, type Probe } from './ready.ts';
import { adminToken, kubeconfigText, prepareSite, type Access } from './site.ts';

export type ControlPlanePart = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

export interface ClusterOptions {
  /** What runs beside etcd. The API server always does. */
  readonly parts?: readonly ControlPlanePart[];
}

/** Real programs on ports and in a directory of their own. */
export interface Cluster extends AsyncDisposable {
  readonly directory: string;
  readonly base: number;
  readonly target: Access;
  /** Path of a kubeconfig of the cluster's admin. */
  readonly kubeconfig: string;
  running(): readonly Running[];
  /** Starts a further program and waits for its probe, if it has one. */
  start(command: Command, probe?: Probe): Promise<Running>;
  part(name: string): Running;
  /** Kills a part and starts it again as it was. */
  restart(name: string): Promise<Running>;
  /** Ends everything; the logs stay when asked for or when something had failed. */
  stop(options?: { readonly keepLogs?: boolean }): Promise<void>;
}

export async function startCluster({ parts = [] }: ClusterOptions = {}): Promise<Cluster> {
  const ports = await reservePorts();
  const directory = mkdtempSync(join(tmpdir(), 'kube-reflex-real-'));
  const processes = createProcesses(directory);
  const cluster = assemble({ ports, directory, processes });
  try {
    prepareSite(directory);
    await cluster.boot(parts);
    return cluster;
  } catch (error) {
    await cluster.stop({ keepLogs: true });
    throw error;
  }
}

interface Ground {
  readonly ports: Ports;
  readonly directory: string;
  readonly processes: Processes;
}

function assemble({ ports, directory, processes }: Ground): Cluster & {
  boot(parts: readonly ControlPlanePart[]): Promise<void>;
} {
  const kubeconfig = join(directory, 'kubeconfig');
  const site: Site = { directory, base: ports.base, kubeconfig, binary };
  const url = `https://127.0.0.1:${ports.base + portOf.apiserver}`;
  const probes = new Map<string, Probe>();
  let target: Access = { url, ca: '', token: adminToken };

  async function start(command: Command, probe?: Probe): Promise<Running> {
    const running = await processes.start(command);
    if (probe !== undefined) {
      probes.set(command.name, probe);
      await untilReady(running, probe);
    }
    return running;
  }

  async function boot(parts: readonly ControlPlanePart[]): Promise<void> {
    await start(etcd(site), probeOf(site, 'etcd'));
    await start(apiServer(site), probeOf(site, 'kube-apiserver'));
    target = { ...target, ca: readFileSync(join(directory, 'certs/apiserver.crt'), 'utf8') };
    writeFileSync(kubeconfig, kubeconfigText(target), { mode: 0o600 });
    const commands = { 'kube-controller-manager': controllerManager, 'kube-scheduler': scheduler };
    const rest = parts.filter((part) => part !== 'kube-apiserver');
    await Promise.all(rest.map((part) => start(commands[part](site), probeOf(site, part))));
  }

  function part(name: string): Running {
    const found = processes.running().find((running) => running.name === name);
    if (found === undefined) {
      throw new Error(`${name} does not run`);
    }
    return found;
  }

  async function restart(name: string): Promise<Running> {
    const before = part(name);
    await before.stop();
    return start(before.command, probes.get(name));
  }

  async function stop({ keepLogs = false } = {}): Promise<void> {
    await processes.stopAll();
    await ports.release();
    if (!keepLogs) {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  return {
    directory,
    base: ports.base,
    get target() {
      return target;
    },
    kubeconfig,
    running: () => processes.running(),
    start,
    part,
    restart,
    stop,
    boot,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function probeOf({ base }: Site, part: ControlPlanePart | 'etcd'): Probe {
  const headers = { authorization: `Bearer ${adminToken}` };
  switch (part) {
    case 'etcd':
      return { url: `http://127.0.0.1:${base + portOf.etcd}/health`, body: /"true"/ };
    case 'kube-apiserver':
      return { url: `https://127.0.0.1:${base + portOf.apiserver}/readyz`, headers, body: /^ok$/ };
    case 'kube-controller-manager':
      return { url: `https://127.0.0.1:${base + portOf.controllers}/healthz`, headers, body: /^ok$/ };
    case 'kube-scheduler':
      return { url: `https://127.0.0.1:${base + portOf.scheduler}/readyz`, headers, body: /^ok$/ };
  }
}
