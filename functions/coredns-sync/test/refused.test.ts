import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, namespaces, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { lineOf, openWorld, rulesName, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

let world: World;

async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

/** What the sender of an event is told: the status, and when to come back. */
async function answer(event: Parameters<typeof binaryEvent>[0]): Promise<readonly [number, unknown]> {
  const { status, headers } = await send(world.app.url, binaryEvent(event));
  return [status, headers['retry-after']];
}

const tick = { type: 'dev.knative.sources.ping' };
const added = {
  ...{ type: 'dev.knative.apiserver.ref.add', kind: 'Ingress', apiVersion: 'networking.k8s.io/v1' },
  ...{ namespace: 'shop', name: 'more' },
};

describe('rules that the API server does not take', () => {
  it('say that the namespace of CoreDNS is missing, and nobody makes one', async () => {
    const { ingress, conditions, sandbox } = await open({ COREDNS_NAMESPACE: 'elsewhere' });
    await ingress('more', ['more.example.com']);

    expect(await answer(added)).toEqual([503, '60']);
    expect(await answer(tick)).toEqual([503, '60']);
    expect(conditions()).toMatchObject({ NamespaceMissing: expect.stringContaining('elsewhere') });
    expect(sandbox.api.get(namespaces, 'elsewhere')).toBeUndefined();
  });

  it.each([
    ['a right', 'unavailable', 'configmaps is forbidden: User "x" cannot patch resource "configmaps" in API group ""'],
    ['a policy', 'impossible', 'admission webhook "policy.example.com" denied the request: no rules on Fridays'],
  ])('say that %s is in the way, once, and go on when it no longer is', async (_, kind, message) => {
    const { ingress, tick: passes, conditions, sandbox, lines, writes } = await open();
    await ingress('web', ['web.example.com']);
    await passes();
    const effect = { do: 'refuse', status: 403, message } as const;
    const allow = sandbox.faults.add({ verb: 'patch', resource: 'configmaps', name: rulesName, effect });
    await ingress('more', ['more.example.com']);

    expect(await answer(added)).toEqual([503, '60']);
    expect(conditions()).toMatchObject({ RulesRefused: expect.stringContaining(message) });
    writes();
    expect(await answer(tick)).toEqual([503, '60']);
    expect(await answer(added)).toEqual([503, '60']);
    expect(writes()).toEqual(['patch configmaps', 'patch configmaps']); // both refused
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();
    expect(metrics).toContain('coredns_sync_writes_total{object="rules",result="ok"} 1');
    expect(metrics).toContain(`coredns_sync_writes_total{object="rules",result="${kind}"} 3`);
    allow();
    expect(await passes()).toBe(204);
    expect(conditions()).not.toHaveProperty('RulesRefused');
    expect(lines()).toEqual([lineOf('more.example.com'), lineOf('web.example.com')]);
  });

  it('are full where keys of others leave no room, and the last good ones stay', async () => {
    const { ingress, tick: passes, conditions, sandbox, lines } = await open();
    const theirs: ConfigMap = {
      metadata: { name: rulesName, namespace: 'kube-system' },
      data: { 'dynamic.server': '', theirs: 'x'.repeat(1_048_576 - 1000) },
    };
    await sandbox.api.create(configMaps, theirs);
    await ingress('web', ['web.example.com']);
    await passes();
    await ingress(
      'more',
      Array.from({ length: 20 }, (_, index) => `more-${index}.example.com`),
    );

    expect(await answer(added)).toEqual([503, '60']);
    expect(conditions()).toMatchObject({ Full: expect.stringContaining('Too long') });
    expect(lines()).toEqual([lineOf('web.example.com')]);
  });
});
