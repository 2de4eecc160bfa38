import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import type { Running } from '../../lib/main.ts';
import { fillMesh, type Maker } from '../bench/measure/mesh.ts';
import { createClient, type Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { callsOf, settledAudit } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { installRights, usernameOf } from './function.ts';
import { shipped, startHere, stoppedClock, tick } from './istio-rollout-site.ts';
import { applyManifest, type AnyManifest } from './manifests.ts';

const proxy = { revision: 'default', image: 'docker.io/istio/proxyv2:1.29.0' };
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

describe('a large mesh at rest on the real API server', () => {
  let cluster: Cluster;
  let client: Client;
  let injector: Injector;
  let instance: Running;
  const clock = stoppedClock();

  beforeAll(async () => {
    cluster = await startCluster();
    injector = await startInjector(proxy);
    client = createClient(cluster.access);
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'istio-system' } });
    await applyManifest(client, injectorConfigMap({ revision: 'default', tag: '1.29.0' }) as AnyManifest);
    await fillMesh(makerOf(client), { namespaces: 10, workloads: 500, podsEach: 10 }, proxy);
    await applyManifest(client, revisionWebhooks('default', injector.clientConfig) as AnyManifest);
    await installRights(cluster, shipped);
    // Labels of the namespaces are as young as their pods; they are given the same moment that istiod is.
    const environment = { ISTIOD_CONFIG_READ_DELAY: '0', RECONCILE_PERIOD: '20m' };
    instance = await startHere(cluster, { environment, now: clock.now });
  });
  afterAll(async () => {
    await instance.close();
    client.close();
    await injector.close();
    await cluster.stop();
  });

  /** What the function asked of the API server meanwhile. */
  async function callsDuring(work: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
    const seen = (await settledAudit(cluster, client)).length;
    await work();
    return callsOf(account, (await settledAudit(cluster, client)).slice(seen));
  }

  it('IR-40 5,000 fresh pods in 500 workloads, nothing drifted: no probe, and as many pages as the pods fill', async () => {
    const calls = await callsDuring(() => tick(instance));

    const lists = Object.entries(calls).filter(([call]) => call.startsWith('list '));
    expect(injector.counts().probes).toBe(0);
    expect(calls['list pods']).toBe(10);
    expect(lists.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(20);
  });

  it('an hour of ticks without change probes nothing and writes one checkpoint for each full scan', async () => {
    const calls = await callsDuring(async () => {
      for (let minute = 0; minute < 60; minute += 1) {
        clock.turn(60);
        await tick(instance);
      }
    });

    const writes = Object.entries(calls).filter(([call]) => !/^(get|list) /.test(call));
    expect(calls['list pods']).toBe(30); // three scans
    expect(injector.counts().probes).toBe(0);
    expect(writes).toEqual([['patch configmaps', 3]]);
  });
});
