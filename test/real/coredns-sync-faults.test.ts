import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Config } from '../../functions/coredns-sync/config.ts';
import definition from '../../functions/coredns-sync/index.ts';
import { permissionsOf } from '../../functions/coredns-sync/permissions.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { parseConfig } from '../../lib/function/config.ts';
import type { Ingress } from '../../lib/kube/resource.ts';
import { createClient, type Body, type Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { disordered, oracle, oracleSettings, seeded } from '../coredns-sync/oracle.ts';
import { ingressOf } from '../coredns-sync/world.ts';
import { binaryEvent, send } from '../http.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { installRights, startFunction, type RealFunction, type Shipped } from './function.ts';
import { startKillingProxy, type KillingProxy } from './killing-proxy.ts';
import { applyManifest, patchStatus, type AnyManifest } from './manifests.ts';
import { followRules, type Followed } from './rules-watch.ts';

const patience = 600_000;
const environment = {
  ...oracleSettings,
  MIN_WRITE_INTERVAL_MS: '0',
  COREDNS_AUTO_CONFIGURE: 'true',
  EMIT_EVENTS: 'false',
  SHARD_BYTES: '4096',
  MAX_SHARDS: '8',
  ALLOW_MASS_REMOVAL: 'true',
};
const shipped: Shipped = {
  definition: { ...definition, permissions: () => permissionsOf(parseConfig(Config, environment)) },
  folder: join(import.meta.dirname, '../../functions/coredns-sync'),
};
const ingressPath = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses';
const stable = Array.from({ length: 30 }, (_, index) => `stable-${index}.example.com`);

/** Each dies one write later than the one before. */
const lives = 10;

interface Change {
  readonly change: 'add' | 'update' | 'delete';
  readonly name: string;
}

function eventOf(told: Change | 'tick'): ReturnType<typeof binaryEvent> {
  if (told === 'tick') {
    return binaryEvent({ type: 'dev.knative.sources.ping' });
  }
  const { change, name } = told;
  const about = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name };
  return binaryEvent({ type: `dev.knative.apiserver.ref.${change}`, ...about });
}

describe('two processes of coredns-sync on a real API server, one of which is killed again and again', () => {
  const running = new AsyncDisposableStack();
  const random = seeded(11);
  let cluster: Cluster;
  let client: Client;
  let proxy: KillingProxy;
  let survivor: RealFunction;
  let followed: Followed;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = createClient(cluster.access);
    running.defer(() => client.close());
    proxy = running.use(await startKillingProxy(cluster.access));
    for (const name of ['shop', 'infra']) {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', ...coreConfigMap(corefile) } as AnyManifest);
    await apply({ apiVersion: 'apps/v1', kind: 'Deployment', ...coreDeployment } as AnyManifest);
    await installRights(cluster, shipped);
    survivor = await startFunction(cluster, shipped, { port: 0, environment });
    await tick();
    await rollOut();
    await tick();
    for (const [index, host] of stable.entries()) {
      await put(`stable-${index}`, [host]);
    }
    await tick();
    followed = running.use(await followRules(client));
  }, patience);
  afterAll(() => running.disposeAsync());

  it(
    'dead after its first, second, third … write, with events lost, doubled and reordered: one tick makes the rules those of the oracle, and no host that stayed valid was ever missing',
    async () => {
      let deaths = 0;
      for (let atWrite = 1; atWrite <= lives; atWrite += 1) {
        deaths += Number(await liveAndDie(atWrite));
      }
      await followed.caughtUp();

      expect(followed.missed(stable)).toEqual([]);
      expect(followed.states()).toBeGreaterThan(lives);
      expect(deaths).toBeGreaterThanOrEqual(lives / 2); // the other process may have done the work already
    },
    patience,
  );

  /** Whether the process died before it had done everything. */
  async function liveAndDie(atWrite: number): Promise<boolean> {
    const victim = await startFunction(cluster, shipped, { port: 1 + (atWrite % 4), server: proxy.url, environment });
    proxy.arm(victim.running, { atWrite, when: 'after' });
    const changes = await changeSome(atWrite);
    const [first, ...rest] = disordered(changes, random);
    // The survivor hears of it all, too, but not so early that nothing is left to do for the victim.
    await deliver(victim, first === undefined ? [] : [first]);
    await Promise.all([
      deliver(victim, rest).then(() => deliver(victim, ['tick'])),
      deliver(survivor, disordered(changes, random).toReversed()),
    ]);
    await victim.running.stop();
    await tick();
    const { items = [] } = expectCode(200, await client.call('GET', ingressPath));

    expect([atWrite, await followed.lines()]).toEqual([atWrite, oracle(items as Ingress[])]);
    return proxy.struck();
  }

  /** Additions, moves, changes of class and removals; rules spread out and draw together again. */
  async function changeSome(round: number): Promise<readonly Change[]> {
    const many = Array.from({ length: 60 }, (_, index) => `many-${index}.example.com`);
    await put(`one-${round}`, [`one-${round}.example.com`, 'shared.example.com']);
    await put(`two-${round}`, [`two-${round}.example.com`, 'stable-1.example.com'], 'other');
    await put(`one-${round}`, [`moved-${round}.example.com`]);
    await put(`two-${round}`, [`two-${round}.example.com`, 'shared.example.com']);
    await put('many', round % 2 === 1 ? many : many.slice(0, 1));
    const changes: Change[] = [
      { change: 'add', name: `one-${round}` },
      { change: 'add', name: `two-${round}` },
      { change: 'update', name: `one-${round}` },
      { change: 'update', name: `two-${round}` },
      { change: 'update', name: 'many' },
    ];
    for (const name of round > 1 ? [`one-${round - 1}`, `two-${round - 1}`] : []) {
      expectCode(200, await client.call('DELETE', `${ingressPath}/${name}`));
      changes.push({ change: 'delete', name });
    }
    return changes;
  }

  /** What was sent to the dead is lost. */
  async function deliver({ url }: RealFunction, changes: readonly (Change | 'tick')[]): Promise<void> {
    for (const change of changes) {
      const status = await send(url, eventOf(change)).then(
        (answer) => answer.status,
        () => 'lost' as const,
      );
      expect([204, 503, 'lost']).toContain(status);
    }
  }

  async function tick(): Promise<void> {
    expect((await send(survivor.url, eventOf('tick'))).status).toBe(204);
  }

  function apply(object: AnyManifest): Promise<Body> {
    return applyManifest(client, object);
  }

  async function put(name: string, hosts: readonly string[], className = 'nginx'): Promise<void> {
    const ingress = ingressOf(name, hosts, { className });
    await apply({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...ingress } as AnyManifest);
  }

  async function rollOut(): Promise<void> {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: coreDeployment.metadata } as AnyManifest;
    const path = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
    const { metadata } = expectCode(200, await client.call('GET', path));
    const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await patchStatus(client, object, { observedGeneration: metadata?.generation ?? 1, ...counts });
  }
});
