import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { startFunction, type RealFunction } from '../../../../test/real/support/function.ts';
import { injectedInto } from './injection-oracle.ts';
import {
  clusterNames,
  configMapChanged,
  eager,
  finish,
  openRolloutSite,
  shipped,
  tell,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod } from './istiod.ts';
import { startKillingProxy, type KillingProxy } from '../../../../test/real/support/killing-proxy.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  livePods,
  settled,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

const web: Workload = { kind: 'Deployment', namespace: 'mortal', name: 'web' };

/** One upgrade has fewer writes: whoever still dies in so many rounds writes without end. */
const mostRounds = 30;

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(1_800_000);

describe('processes that die over a restart, with a real istiod', () => {
  let site: RolloutSite;
  let client: Client;
  let plane: Istiod;
  let proxy: KillingProxy;

  beforeAll(async () => {
    site = await openRolloutSite();
    ({ client } = site);
    plane = await startIstiod(site.cluster, client, { revision: 'default', tag: '1.29.0', slot: 0 });
    proxy = await startKillingProxy(site.cluster.access);
    await createNamespace(client, web.namespace, { 'istio-injection': 'enabled' });
    await createWorkloads(client, [web]);
    // Who is killed leaves no compiled code to those who come after; one who ends in peace does.
    const first = await start();
    await finish(first);
    await first.running.stop('SIGTERM');
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  function start(): Promise<RealFunction> {
    const NODE_COMPILE_CACHE = join(site.cluster.site.directory, 'compiled');
    const environment = { ...eager, ...clusterNames, NODE_COMPILE_CACHE };
    return startFunction(site.cluster, shipped, { port: 0, server: proxy.url, environment });
  }

  async function upgrade(tag: string): Promise<void> {
    await plane.configure(tag);
    await plane.injects(tag);
  }

  /** Lets it do what the upgrade asks for, or die over that at this write. Returns who is alive then. */
  async function outlive(mortal: RealFunction, atWrite: number): Promise<RealFunction> {
    proxy.arm(mortal.running, { atWrite, when: 'after', to: /deployments|configmaps/ });
    try {
      await tell(mortal, configMapChanged('istio-sidecar-injector'));
      await finish(mortal);
    } catch (error) {
      if (!proxy.struck()) {
        throw error;
      }
    }
    if (!proxy.struck()) {
      return mortal;
    }
    await mortal.running.stop();
    const heir = await start();
    await finish(heir); // by ticks alone
    return heir;
  }

  async function generation(): Promise<number> {
    return (await generations(client)).get(identify(web)) ?? 0;
  }

  async function imagesOfPods(): Promise<readonly (string | undefined)[]> {
    const mine = (await livePods(client)).filter(({ metadata }) => metadata?.namespace === web.namespace);
    return mine.map((pod) => injectedInto(pod)?.image);
  }

  it('IR-28 the next process finishes what one began that died after any of its writes, and restarts nothing twice', async () => {
    const restarts: number[] = [];
    let living = await start();
    do {
      const atWrite = restarts.length + 1;
      const before = await generation();
      await upgrade(`1.29.${atWrite}`);
      living = await outlive(living, atWrite);
      await settled(client, [web]);
      expect(await imagesOfPods()).toEqual([proxyImage(`1.29.${atWrite}`)]);
      restarts.push((await generation()) - before);
    } while (proxy.struck() && restarts.length < mostRounds);

    expect(new Set(restarts)).toEqual(new Set([1]));
    // The upgrade noticed, looked into, the restart intended, carried out and confirmed; in the last round nobody died.
    expect(proxy.struck()).toBe(false);
    expect(restarts.length - 1).toBeGreaterThanOrEqual(5);
  });
});
