import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pod, Service } from '../../../lib/kube/resource.ts';
import { createClient, type Client } from '../../contract/api/client.ts';
import type { Cluster } from '../cluster.ts';
import type { Running } from '../processes.ts';
import { accepted } from './accepted.ts';
import { commandOf, writeAccount, writeVolumes, type Ground } from './container.ts';
import type { Network } from './network.ts';
import { portNamed, routesOf } from './routes.ts';
import { isHere, nodeHere, statusOf } from './status.ts';

export interface KubeletOptions {
  readonly cluster: Cluster;
  readonly network: Network;
  /** What the image holds as `/app`; pods of other images stay as they are. */
  readonly app: string;
}

interface Living {
  readonly pod: Pod;
  readonly ip: string;
  readonly ports: Readonly<Record<number, number>>;
  readonly running: Running;
  ready: boolean;
}

const roundMs = 200;
const firstPort = 30;

/**
 * A node for clusters without containers: pods of our image that are scheduled to it run as processes, with the
 * environment, account and files that their manifests give them; they get ready by their probes, and end by SIGTERM.
 */
export async function startKubelet({ cluster, network, app }: KubeletOptions): Promise<AsyncDisposable> {
  const client = createClient(cluster.access);
  const ground: Ground = { cluster, client, app, routes: network.file };
  const living = new Map<string, Living>();
  const ending = new Map<string, Promise<void>>();
  const stopped = new AbortController();
  const log = join(cluster.site.directory, 'kubelet.log');
  let places = 0;
  accepted('the node', await client.call('POST', '/api/v1/nodes', { body: nodeHere() }));

  async function round(): Promise<void> {
    const pods = (await list<Pod>(client, '/api/v1/pods')).filter(isHere);
    await Promise.all(pods.map((pod) => tend(pod)));
    network.route(routesOf([...living.values()], await list<Service>(client, '/api/v1/services')));
  }

  async function tend(pod: Pod): Promise<void> {
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    const known = living.get(uid);
    if (deletionTimestamp !== undefined) {
      end(pod, known);
    } else if ((await writeVolumes(pod, ground)) && known?.running.alive() !== true) {
      living.set(uid, await begin(pod)); // for the first time, or again after its end
    } else if (known !== undefined) {
      await report(known, client);
    }
  }

  async function begin(pod: Pod): Promise<Living> {
    const place = (places += 1);
    const wanted = (pod.spec?.containers[0]?.ports ?? []).map(({ containerPort }) => containerPort);
    const first = cluster.site.base + firstPort + place * 2;
    const ports = Object.fromEntries(wanted.map((port, index) => [port, first + index]));
    await writeAccount(pod, ground);
    const running = await cluster.start({ command: commandOf(pod, ground, ports) });
    const begun: Living = { pod, ip: `10.244.0.${place}`, ports, running, ready: false };
    await report(begun, client);
    return begun;
  }

  /** Others go on meanwhile: a drain takes its time. */
  function end(pod: Pod, known: Living | undefined): void {
    const { uid = '' } = pod.metadata ?? {};
    if (known !== undefined) {
      known.ready = false; // no Service leads to it any more
    }
    if (!ending.has(uid)) {
      ending.set(
        uid,
        (known?.running.stop('SIGTERM') ?? Promise.resolve()).then(() => forget(pod)),
      );
    }
  }

  async function forget({ metadata }: Pod): Promise<void> {
    const { name = '', namespace = '', uid = '' } = metadata ?? {};
    living.delete(uid);
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    await client.call('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body });
  }

  /** What fails now is tried again in the next round, as any kubelet does; the log says what it was. */
  async function work(): Promise<void> {
    while (!stopped.signal.aborted) {
      await round().catch((error: unknown) => appendFileSync(log, `${String(error)}\n`));
      await pause(roundMs);
    }
  }

  const worked = work();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await worked;
      client.close();
    },
  };
}

/** Asks its probe, and tells the API server what it said. */
async function report(living: Living, client: Client): Promise<void> {
  const { pod, ports, running } = living;
  living.ready = running.alive() && (await answers(probeOf(pod, ports)));
  const { name = '', namespace = '' } = pod.metadata ?? {};
  await client.call('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
    body: { status: statusOf(living) },
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  });
}

function probeOf(pod: Pod, ports: Living['ports']): string {
  const { path = '/', port = 0 } = pod.spec?.containers[0]?.readinessProbe?.httpGet ?? {};
  const here = ports[typeof port === 'number' ? port : portNamed(port, pod)] ?? 0;
  return `http://127.0.0.1:${here}${path}`;
}

async function answers(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(1000) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}

async function list<T>(client: Client, path: string): Promise<readonly T[]> {
  return (accepted(path, await client.call('GET', path)).items ?? []) as T[];
}
