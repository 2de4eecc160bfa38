import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import type { Cluster } from '../../../../test/real/parts/cluster.ts';
import { startFunction, type RealFunction } from '../../../../test/real/support/function.ts';
import { observeDeployments, type Observer } from './in-flight.ts';
import {
  clusterNames,
  configMapChanged,
  eager,
  openRolloutSite,
  shipped,
  stateIn,
  tell,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod, type Templates } from './istiod.ts';
import { startRewriter } from './rewriter.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  mendPods,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

const readyAfter = { 'sandbox.kube-reflex.dev/ready-after': '1s' };
const ready = 'sandbox.kube-reflex.dev/ready';
const namespaces = Array.from({ length: 10 }, (_, index) => `team-${index}`);
/** The second in the order of restarts: its new pods never become ready in the second run. */
const stuck: Workload = {
  ...deployment(1),
  template: { annotations: { ...readyAfter, 'inject.istio.io/templates': 'sidecar,own' } },
};
/** Somebody rewrites the proxy of its pods, so that no restart can help. */
const futile = deployment(49);
const workloads = [deployment(0), stuck, ...Array.from({ length: 47 }, (_, index) => deployment(index + 2)), futile];
const settings = {
  ...eager,
  ...clusterNames,
  MAX_IN_FLIGHT: '5',
  MAX_IN_FLIGHT_PER_NAMESPACE: '1',
  ROLLOUT_TIMEOUT: '8s',
};

function deployment(index: number): Workload {
  const namespace = namespaces[index % namespaces.length] ?? '';
  return { kind: 'Deployment', namespace, name: `web-${index}`, template: { annotations: readyAfter } };
}

/** The template of the control plane that only the stuck one asks for. */
function ownTemplate(readiness: 'as usual' | 'never'): Templates {
  return { own: JSON.stringify({ metadata: { annotations: { [ready]: readiness } } }) };
}

/** A tick for each instance, as from a PingSource; one that is dead misses it. */
async function tickAll(functions: readonly RealFunction[]): Promise<void> {
  await Promise.allSettled(functions.map(({ url }) => send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))));
}

async function tickUntil(functions: () => readonly RealFunction[], done: () => boolean): Promise<void> {
  while (!done()) {
    await tickAll(functions());
    await pause(200);
  }
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('fifty restarts that a real istiod makes necessary, seen from outside', () => {
  let site: RolloutSite;
  let cluster: Cluster;
  let client: Client;
  let plane: Istiod;
  let rewriter: { readonly close: () => void };
  let observer: Observer;
  const functions: RealFunction[] = [];

  async function start(port: number): Promise<void> {
    functions[port] = await startFunction(cluster, shipped, { port, environment: settings });
  }

  function first(): RealFunction {
    const [instance] = functions;
    if (instance === undefined) {
      throw new Error('no instance runs');
    }
    return instance;
  }

  async function upgrade(tag: string, templates: Templates): Promise<void> {
    await plane.configure(tag, templates);
    await plane.injects(tag);
    await tell(first(), configMapChanged('istio-sidecar-injector'));
  }

  /** Every 3 s one of the instances dies as if its node had gone, and another takes its place. */
  function startKilling(): { readonly kills: () => number; readonly stop: () => Promise<void> } {
    const stopped = new AbortController();
    let kills = 0;
    let replaced: Promise<unknown> = Promise.resolve();
    async function kill(): Promise<void> {
      await pause(3_000, undefined, { signal: stopped.signal });
      const port = kills % 2;
      kills += 1;
      await functions[port]?.running.stop('SIGKILL');
      replaced = Promise.all([replaced, start(port)]);
      await kill();
    }
    const ended = kill().catch((error: unknown) => {
      if (!stopped.signal.aborted) {
        throw error;
      }
    });
    return {
      kills: () => kills,
      stop: async () => {
        stopped.abort();
        await ended;
        await replaced;
      },
    };
  }

  /** How often workloads were restarted since the beginning: how many of them so often. */
  function tally(): Readonly<Record<number, number>> {
    const counts = Map.groupBy([...observer.restarts()], ([, count]) => count);
    return Object.fromEntries([...counts].map(([count, workloadsOf]) => [count, workloadsOf.length]));
  }

  beforeAll(async () => {
    site = await openRolloutSite();
    ({ cluster, client } = site);
    const templates = ownTemplate('as usual');
    plane = await startIstiod(cluster, client, { revision: 'default', tag: '1.28.4', slot: 0, templates });
    for (const name of namespaces) {
      await createNamespace(client, name, { 'istio-injection': 'enabled' });
    }
    await createWorkloads(client, workloads);
    rewriter = await startRewriter(client, { workload: futile, image: proxyImage('1.28.4') });
    await Promise.all([start(0), start(1)]);
    observer = await observeDeployments(client);
  });
  afterAll(async () => {
    observer.close();
    await site[Symbol.asyncDispose]();
    rewriter.close();
  });

  it('IR-26 IR-28 IR-29 IR-31 stay within the wave limits and happen once each, with two instances of which one is killed every 3 s', async () => {
    await upgrade('1.29.0', ownTemplate('as usual'));
    const killing = startKilling();
    try {
      await tickUntil(
        () => functions,
        () => tally()[1] === 49 && tally()[2] === 1 && observer.underWay().length === 0,
      );
    } finally {
      await killing.stop();
    }
    await waitUntil('the futile one is given up', async () => {
      await tickAll(functions);
      return (await stateIn(client)).blocked.some(
        ({ name, reason }) => name === futile.name && reason === 'Ineffective',
      );
    });

    expect(killing.kills()).toBeGreaterThan(5);
    expect(tally()).toEqual({ 1: 49, 2: 1 }); // none twice, but for the one that two attempts did not help
    expect(observer.peak()).toBeLessThanOrEqual(5);
    expect(observer.peakInNamespace()).toBe(1);
  });

  it('IR-27 stop when a rollout never becomes ready, and go on once it is, within the limits all the time', async () => {
    await upgrade('1.30.0', ownTemplate('never'));
    const killing = startKilling();
    try {
      await tickUntil(
        () => functions,
        () => observer.underWay().includes(identify(stuck)),
      );
      await waitUntil('its restart has failed', async () => {
        await tickAll(functions);
        return (await stateIn(client)).inflight.some(({ name, phase }) => name === stuck.name && phase === 'Failed');
      });
      await tickUntil(
        () => functions,
        () => observer.underWay().join() === identify(stuck),
      );
    } finally {
      await killing.stop();
    }
    const reached = await generations(client);
    for (let count = 0; count < 5; count += 1) {
      await tickAll(functions);
    }

    expect(tally()[2] ?? 0).toBeLessThan(49);
    expect(await generations(client)).toEqual(reached);
    expect(await first().metric('kube_reflex_istio_rollout_run_paused')).toBe(1);

    await mendPods(client, stuck);
    await tickUntil(
      () => functions,
      () => tally()[2] === 49 && tally()[4] === 1 && observer.underWay().length === 0,
    );

    expect(observer.peak()).toBeLessThanOrEqual(5);
    expect(observer.peakInNamespace()).toBe(1);
  });
});
