import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Running } from '../../../../lib/runtime/main.ts';
import { fillMesh, type Maker } from '../../../../test/bench/measure/mesh.ts';
import { createClient, type Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { callsOf, settledAudit } from '../../../../test/real/parts/audit.ts';
import { startCluster, type Cluster } from '../../../../test/real/parts/cluster.ts';
import { installRights, usernameOf } from '../../../../test/real/support/function.ts';
import { injectedInto } from './injection-oracle.ts';
import { shipped, startHere, stoppedClock, tick } from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod } from './istiod.ts';
import { livePods } from '../../../../test/real/support/workloads.ts';

const account = usernameOf('istio-rollout', 'events');

/** Makes objects by the API, as controllers do: none runs here. */
function makerOf(client: Client): Maker {
  return {
    create: async ({ group, plural }, object) =>
      expectCode(
        201,
        await client.call('POST', collectionOf(group, plural, object.metadata?.namespace), { body: object }),
      ),
    update: async ({ group, plural }, object, { subresource } = {}) => {
      const path = [collectionOf(group, plural, object.metadata?.namespace), object.metadata?.name, subresource];
      return expectCode(200, await client.call('PUT', path.filter(Boolean).join('/'), { body: object }));
    },
  };
}

function collectionOf(group: string, plural: string, namespace: string | undefined): string {
  const api = group === '' ? '/api/v1' : `/apis/${group}/v1`;
  return namespace === undefined ? `${api}/${plural}` : `${api}/namespaces/${namespace}/${plural}`;
}

/** Filling the cluster takes seconds on a quiet machine. */
jest.setTimeout(600_000);

describe('a large mesh of a real istiod, at rest', () => {
  let cluster: Cluster;
  let client: Client;
  let plane: Istiod;
  let instance: Running;
  const clock = stoppedClock();

  beforeAll(async () => {
    cluster = await startCluster();
    client = createClient(cluster.access);
    plane = await startIstiod(cluster, client, { revision: 'default', tag: '1.29.0', slot: 0 });
    await plane.injects('1.29.0');
    await fillMesh(makerOf(client), { namespaces: 10, workloads: 500, podsEach: 10 });
    await installRights(cluster, shipped);
    // Labels of the namespaces are as young as their pods; they are given the same moment that istiod is.
    const environment = { ISTIOD_CONFIG_READ_DELAY: '0', RECONCILE_PERIOD: '20m' };
    instance = await startHere(cluster, { environment, now: clock.now });
  });
  afterAll(async () => {
    await instance.close();
    client.close();
    await cluster.stop();
  });

  /** What the function asked meanwhile of the API server, and how often istiod was asked by anybody. */
  async function callsDuring(
    work: () => Promise<void>,
  ): Promise<{ readonly calls: Readonly<Record<string, number>>; readonly probes: number }> {
    const seen = (await settledAudit(cluster, client)).length;
    const asked = await plane.asked();
    await work();
    const probes = (await plane.asked()) - asked;
    return { calls: callsOf(account, (await settledAudit(cluster, client)).slice(seen)), probes };
  }

  it('begins with pods that istiod has injected, each of them', async () => {
    const injected = (await livePods(client)).map((pod) => injectedInto(pod));

    expect(injected).toHaveLength(5_000);
    expect(new Set(injected.map((proxy) => proxy?.image))).toEqual(new Set([proxyImage('1.29.0')]));
    expect(await plane.asked()).toBeGreaterThanOrEqual(5_000);
  });

  it('IR-40 5,000 fresh pods in 500 workloads, nothing drifted: no probe, and as many pages as the pods fill', async () => {
    const { calls, probes } = await callsDuring(() => tick(instance));

    const lists = Object.entries(calls).filter(([call]) => call.startsWith('list '));
    expect(probes).toBe(0);
    expect(calls['list pods']).toBe(10);
    expect(lists.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(20);
  });

  it('an hour of ticks without change probes nothing and writes one checkpoint for each full scan', async () => {
    const { calls, probes } = await callsDuring(async () => {
      for (let minute = 0; minute < 60; minute += 1) {
        clock.turn(60);
        await tick(instance);
      }
    });

    const writes = Object.entries(calls).filter(([call]) => !/^(get|list) /.test(call));
    expect(calls['list pods']).toBe(30); // three scans
    expect(probes).toBe(0);
    expect(writes).toEqual([['patch configmaps', 3]]);
  });
});
