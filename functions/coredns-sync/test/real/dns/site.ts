import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary } from '../../../../../test/real/parts/cluster.ts';
import type { PartName } from '../../../../../test/real/parts/parts.ts';
import { reservePorts } from '../../../../../test/real/parts/ports.ts';
import { createProcesses, type Running } from '../../../../../test/real/parts/processes.ts';
import { untilReady } from '../../../../../test/real/parts/ready.ts';
import { createRunDirectory } from '../../../../../test/real/parts/runs.ts';
import { openDnsClient, type DnsClient } from './client.ts';
import { createVolume, type Volume } from './volume.ts';
import { clusterZone, upstreamCorefile } from './world.ts';

export type CoreDnsPart = Extract<PartName, `coredns${string}`>;

/** CoreDNS processes beside each other, with the rest of the world as a further one that they forward to. */
export interface DnsSite extends AsyncDisposable {
  start(options: CoreDnsOptions): Promise<CoreDns>;
  /** Starts it with a configuration that it may refuse: how it ended and what it said, or undefined when it serves. */
  tryStart(options: CoreDnsOptions): Promise<string | undefined>;
}

export interface CoreDnsOptions {
  readonly part?: CoreDnsPart;
  /** The Corefile, given where the process finds things. */
  readonly corefile: (place: Place) => string;
  /** What the volume of rules holds at first. */
  readonly files?: VolumeFiles;
}

/** Some renderings depend on where the process finds things, and on its Corefile. */
export type VolumeFiles = Files | ((place: Place, corefile: string) => Files);
type Files = Readonly<Record<string, string>>;

export interface Place {
  /** Goes into one server block: address, health, metrics, reload every two seconds. */
  readonly common: string;
  readonly port: number;
  /** Answers for the cluster's own names, in the place of the `kubernetes` plugin. */
  readonly cluster: string;
  readonly forward: string;
  /** Where the volume of rules is mounted. */
  readonly mountPath: string;
}

export interface CoreDns {
  readonly port: number;
  readonly dns: DnsClient;
  readonly volume: Volume;
  /** Changes the files of the volume, all at once. */
  write(files: VolumeFiles): void;
  readonly running: Running;
  /** Empty while it reloads. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** DNS, readiness, metrics. */
const portsEach = 3;

export async function openDnsSite(): Promise<DnsSite> {
  const ports = await reservePorts();
  const directory = createRunDirectory();
  const processes = createProcesses(directory);
  const upstream = ports.base;
  const clients = new DisposableStack();
  const taken = new Set<number>();
  let started = 0;

  /** The lowest that no process uses. */
  function takePort(): number {
    let port = upstream + portsEach;
    while (taken.has(port)) {
      port += portsEach;
    }
    taken.add(port);
    return port;
  }

  async function launch({ part = 'coredns', corefile, files = {} }: CoreDnsOptions): Promise<Launched> {
    started += 1;
    const name = `${part}-${started}`;
    const port = takePort();
    const volume = createVolume(join(directory, `${name}-rules`));
    const zone = join(directory, `${name}.db`);
    writeFileSync(zone, clusterZone);
    const probes = [`health 127.0.0.1:${port + 1}`, `prometheus 127.0.0.1:${port + 2}`];
    const common = ['bind 127.0.0.1', 'errors', 'reload 2s 1s', ...probes].join('\n    ');
    const forward = `forward . 127.0.0.1:${upstream}`;
    const place = { common, port, mountPath: volume.directory, cluster: `file ${zone} cluster.local`, forward };
    const text = corefile(place);
    function write(fresh: VolumeFiles): void {
      volume.write(typeof fresh === 'function' ? fresh(place, text) : fresh);
    }
    write(files);
    const path = join(directory, `${name}.Corefile`);
    writeFileSync(path, text);
    const running = await processes.start({
      name,
      file: binary(part),
      args: ['-conf', path, '-dns.port', String(port)],
    });
    void running.ended.then(() => taken.delete(port));
    return { running, port, volume, write };
  }

  async function start(options: CoreDnsOptions): Promise<CoreDns> {
    const { running, port, volume, write } = await launch(options);
    await untilReady(running, { url: `http://127.0.0.1:${port + 1}/health` });
    const dns = clients.use(await openDnsClient(port));
    return {
      ...{ port, dns, volume, write, running },
      metrics: () => readText(`http://127.0.0.1:${port + 2}/metrics`),
      stop: () => running.stop(),
    };
  }

  async function tryStart(options: CoreDnsOptions): Promise<string | undefined> {
    const { running, port } = await launch(options);
    const ready = untilReady(running, { url: `http://127.0.0.1:${port + 1}/health` }).then(
      () => undefined,
      (error: unknown) => `${String(error)}\n${readFileSync(running.log, 'utf8')}`,
    );
    const outcome = await ready;
    await running.stop();
    return outcome;
  }

  const world = join(directory, 'upstream.Corefile');
  writeFileSync(world, upstreamCorefile(upstream));
  const running = await processes.start({ name: 'upstream', file: binary('coredns'), args: ['-conf', world] });
  await untilReady(running, { url: `http://127.0.0.1:${upstream + 1}/health` });
  return {
    start,
    tryStart,
    async [Symbol.asyncDispose]() {
      clients.dispose();
      await processes.stopAll();
      await ports.release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Launched {
  readonly running: Running;
  readonly port: number;
  readonly volume: Volume;
  readonly write: (files: VolumeFiles) => void;
}

async function readText(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch {
    return '';
  }
}
