import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { injection } from '../../functions/istio-rollout/sandbox/inject.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../lib/review/review.ts';
import { createClient, type Client } from '../contract/api/client.ts';
import { binaryEvent, send } from '../http.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { installRights, startFunction, type RealFunction, type Shipped } from './function.ts';
import { observeDeployments, type Observer } from './in-flight.ts';
import { applyManifest, type AnyManifest } from './manifests.ts';
import { addNodes } from './nodes.ts';
import { waitUntil } from './wait.ts';
import { createNamespace, createWorkloads, identify, livePods, type Workload } from './workloads.ts';

const shipped: Shipped = {
  definition: istioRollout,
  folder: join(import.meta.dirname, '../../functions/istio-rollout'),
};
const namespaces = Array.from({ length: 10 }, (_, index) => `team-${index}`);
const workloads = Array.from({ length: 50 }, (_, index): Workload => ({
  kind: 'Deployment',
  namespace: namespaces[index % namespaces.length] ?? '',
  name: `web-${index}`,
  template: { annotations: { 'sandbox.kube-reflex.dev/ready-after': '2s' } },
}));
/** The first in the order of restarts. */
const stuck = workloads[0];
const settings = {
  ISTIOD_CONFIG_READ_DELAY: '1s',
  COOLDOWN: '0s',
  MAX_IN_FLIGHT: '5',
  MAX_IN_FLIGHT_PER_NAMESPACE: '1',
  ROLLOUT_TIMEOUT: '8s',
};

function imageOf(tag: string): string {
  return `docker.io/istio/proxyv2:${tag}`;
}

/** Pods of one workload never become ready with this proxy. */
function spoiling(request: AdmissionRequest, tag: string): Omit<AdmissionResponse, 'uid'> | undefined {
  if (request.object?.metadata?.labels?.['app'] !== stuck?.name) {
    return undefined;
  }
  const patch = [
    ...injection(request.object ?? {}, { revision: 'default', image: imageOf(tag) }),
    { op: 'add', path: '/metadata/annotations/sandbox.kube-reflex.dev~1ready', value: 'never' },
  ];
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

/** Ticks both instances again and again, as a PingSource and two replicas would; one that is dead misses its tick. */
async function tickUntil(functions: () => readonly RealFunction[], done: () => boolean): Promise<void> {
  while (!done()) {
    const tick = binaryEvent({ type: 'dev.knative.sources.ping' });
    await Promise.allSettled(functions().map(({ url }) => send(url, tick)));
    await pause(200);
  }
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('fifty restarts, seen from outside', () => {
  let cluster: Cluster;
  let client: Client;
  let injector: Injector;
  let observer: Observer;
  const functions: RealFunction[] = [];

  async function start(port: number): Promise<void> {
    functions[port] = await startFunction(cluster, shipped, { port, environment: settings });
  }

  async function upgrade(tag: string): Promise<void> {
    injector.behave({ image: imageOf(tag) });
    await applyManifest(client, injectorConfigMap({ revision: 'default', tag }) as AnyManifest);
    const subject = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'istio-system', name: 'istio-sidecar-injector' };
    await send(
      functions[0]?.url ?? new URL('http://none'),
      binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...subject }),
    );
  }

  /** One instance after the other dies 3 s after it was last seen ready, as if its node had gone. */
  function startKilling(): { readonly kills: () => number; readonly stop: () => Promise<void> } {
    const stopped = new AbortController();
    let kills = 0;
    async function kill(): Promise<void> {
      await pause(3_000, undefined, { signal: stopped.signal });
      await functions[kills % 2]?.running.stop('SIGKILL');
      await start(kills % 2);
      kills += 1;
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
      },
    };
  }

  function restarted(times: number): readonly string[] {
    return [...observer.restarts()].filter(([, count]) => count === times).map(([identity]) => identity);
  }

  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
    client = createClient(cluster.access);
    injector = await startInjector({ image: imageOf('1.28.4') });
    await addNodes(cluster, ['node-1']);
    await createNamespace(client, 'istio-system', {});
    await applyManifest(client, injectorConfigMap({ revision: 'default', tag: '1.28.4' }) as AnyManifest);
    await applyManifest(client, revisionWebhooks('default', injector.clientConfig) as AnyManifest);
    for (const name of namespaces) {
      await createNamespace(client, name, { 'istio-injection': 'enabled' });
    }
    await createWorkloads(client, workloads);
    await installRights(cluster, shipped);
    await Promise.all([start(0), start(1)]);
    observer = await observeDeployments(client);
  });
  afterAll(async () => {
    observer.close();
    client.close();
    await cluster.stop();
    await injector.close();
  });

  it('IR-26 IR-28 IR-29 stay within the wave limits and happen once each, with two instances that are killed in turns', async () => {
    await upgrade('1.29.0');
    const killing = startKilling();
    try {
      await tickUntil(
        () => functions,
        () => restarted(1).length === 50 && observer.underWay().length === 0,
      );
    } finally {
      await killing.stop();
    }

    expect(killing.kills()).toBeGreaterThan(1);
    expect(restarted(1)).toHaveLength(50);
    expect(observer.peak()).toBeLessThanOrEqual(5);
    expect(observer.peakInNamespace()).toBe(1);
  });

  it('IR-27 stop when a rollout never becomes ready, and go on once it is', async () => {
    injector.behave({ answer: (request) => spoiling(request, '1.30.0') });
    await upgrade('1.30.0');
    const identity = stuck === undefined ? '' : identify(stuck);
    await tickUntil(
      () => functions,
      () => observer.underWay().includes(identity),
    );
    await waitPaused(1);
    const reached = restarted(2);
    await tickUntil(
      () => functions,
      () => observer.underWay().join() === identity,
    );

    expect(await functions[0]?.metric('kube_reflex_istio_rollout_run_paused')).toBe(1);
    expect(reached.length).toBeLessThan(50);
    expect(observer.peak()).toBeLessThanOrEqual(5); // from here on an operator takes a hand in it

    injector.behave({ answer: () => undefined });
    await replacePods();
    await tickUntil(
      () => functions,
      () => restarted(2).length === 50 && observer.underWay().length === 0,
    );
  });

  async function waitPaused(value: number): Promise<void> {
    await waitUntil('the run pauses', async () => {
      await Promise.allSettled(
        functions.map(({ url }) => send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))),
      );
      return (await functions[0]?.metric('kube_reflex_istio_rollout_run_paused')) === value;
    });
  }

  /** What an operator does once the cause is gone. */
  async function replacePods(): Promise<void> {
    const mine = (await livePods(client)).filter(({ metadata }) => metadata?.labels?.['app'] === stuck?.name);
    for (const { metadata } of mine) {
      await client.call('DELETE', `/api/v1/namespaces/${metadata?.namespace ?? ''}/pods/${metadata?.name ?? ''}`);
    }
  }
});
