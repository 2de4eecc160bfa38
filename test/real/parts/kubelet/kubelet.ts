import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pod, Service } from '../../../../lib/kube/model/resource.ts';
import { createClient, type Client } from '../../../../lib/sandbox/test/contract/client.ts';
import type { Cluster } from '../cluster.ts';
import type { Running } from '../processes.ts';
import { accepted } from './accepted.ts';
import { commandOf, writeAccount, writeVolumes, type Ground } from './container.ts';
import type { Network } from './network.ts';
import { createPlaces, type Place } from './places.ts';
import { portNamed, routesOf } from './routes.ts';
import { isHere, nodeHere, statusOf } from './status.ts';

export interface KubeletOptions {
  readonly cluster: Cluster;
  readonly network: Network;
  /** What the image holds as `/app`; pods of other images stay as they are. */
  readonly app: string;
}

interface Living extends Place {
  readonly pod: Pod;
  readonly running: Running;
  /** How often it was started again after an end that nobody asked for. */
  readonly restarts: number;
  ready: boolean;
  /** The readiness last reported to the API server. */
  reported?: boolean;
}

const roundMs = 200;

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
  const placeOf = createPlaces(cluster.site.base);
  accepted('the node', await client.call('POST', '/api/v1/nodes', { body: nodeHere() }));

  /** What fails now is tried again in the next round, as any kubelet does; the log says what it was. */
  function note(error: unknown): void {
    appendFileSync(log, `${String(error)}\n`);
  }

  /** Ends when all pods are tended: no two rounds tend one pod at the same time. */
  async function round(): Promise<void> {
    const pods = (await list<Pod>(client, '/api/v1/pods')).filter(isHere);
    await Promise.all(pods.map((pod) => tend(pod).catch(note)));
    network.route(routesOf([...living.values()], await list<Service>(client, '/api/v1/services')));
  }

  async function tend(pod: Pod): Promise<void> {
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    const known = living.get(uid);
    if (deletionTimestamp !== undefined) {
      end(pod, known);
      return;
    }
    const hasFiles = await writeVolumes(pod, ground);
    const here = hasFiles && known?.running.alive() !== true ? await begin(pod, known) : known;
    if (here !== undefined) {
      await report(here, client);
    }
  }

  /** For the first time, or again after its end. */
  async function begin(pod: Pod, before: Living | undefined): Promise<Living> {
    const place = placeOf(pod);
    await writeAccount(pod, ground);
    const running = await cluster.start({ command: commandOf(pod, ground, place.ports) });
    const restarts = before === undefined ? 0 : before.restarts + 1;
    const begun: Living = { pod, ...place, running, restarts, ready: false };
    living.set(pod.metadata?.uid ?? '', begun);
    return begun;
  }

  /** Others go on meanwhile: a drain takes its time. */
  function end(pod: Pod, known: Living | undefined): void {
    const { uid = '' } = pod.metadata ?? {};
    if (known !== undefined) {
      known.ready = false; // no Service leads to it any more
    }
    if (!ending.has(uid)) {
      const stopping = known?.running.stop('SIGTERM') ?? Promise.resolve();
      const ended = stopping.then(() => forget(pod)).catch(note);
      ending.set(
        uid,
        ended.finally(() => ending.delete(uid)),
      );
    }
  }

  async function forget({ metadata }: Pod): Promise<void> {
    const { name = '', namespace = '', uid = '' } = metadata ?? {};
    living.delete(uid);
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    const reply = await client.call('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body });
    if (reply.code !== 404 && reply.code !== 409) {
      accepted(`the end of pod ${name}`, reply); // otherwise it is gone already, or another has its name
    }
  }

  async function work(): Promise<void> {
    while (!stopped.signal.aborted) {
      await round().catch(note);
      await pause(roundMs);
    }
  }

  const worked = work();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await worked;
      await Promise.all(ending.values());
      client.close();
    },
  };
}

/** Runs its probe, and reports a changed result to the API server. */
async function report(living: Living, client: Client): Promise<void> {
  const { pod, ports, running } = living;
  living.ready = running.alive() && (await answers(probeOf(pod, ports)));
  if (living.ready === living.reported) {
    return;
  }
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const reply = await client.call('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
    body: { status: statusOf(living) },
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  });
  accepted(`the status of pod ${name}`, reply);
  living.reported = living.ready;
}

function probeOf(pod: Pod, ports: Place['ports']): string {
  const { path = '/', port = 0 } = pod.spec?.containers[0]?.readinessProbe?.httpGet ?? {};
  const here = ports[typeof port === 'number' ? port : portNamed(port, pod)] ?? 0;
  return `http://127.0.0.1:${here}${path}`;
}

async function answers(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}

async function list<T>(client: Client, path: string): Promise<readonly T[]> {
  return (accepted(path, await client.call('GET', path)).items ?? []) as T[];
}
