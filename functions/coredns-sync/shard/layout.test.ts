import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap } from '../../../lib/kube/resource.ts';
import {
  ingressOf,
  lineOf,
  openWorld,
  rulesName,
  until,
  type Environment,
  type World,
} from '../../../test/coredns-sync/world.ts';
import { binaryEvent, send } from '../../../test/http.ts';

const ingressKind = { group: 'networking.k8s.io', plural: 'ingresses' };
const spread = {
  MIN_WRITE_INTERVAL_MS: '0',
  COREDNS_AUTO_CONFIGURE: 'true',
  EMIT_EVENTS: 'false',
  RENDER_MODE: 'exact',
  SHARD_BYTES: '4096',
  MAX_SHARDS: '8',
};

let world: World;

afterEach(async () => world[Symbol.asyncDispose]());

/** CoreDNS mounts all shards. */
async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld({ ...spread, ...environment });
  await world.tick();
  await world.rollOut();
  return world;
}

async function fill(names: readonly string[], hostOf = (name: string): string => `${name}.example.com`): Promise<void> {
  for (const name of names) {
    await world.sandbox.api.create(ingressKind, ingressOf(name, [hostOf(name)]));
  }
}

function named(count: number, prefix = 'web'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function shards(): readonly string[] {
  return (world.sandbox.api.list(configMaps, { namespace: 'kube-system' }) as readonly ConfigMap[])
    .map(({ metadata }) => metadata?.name ?? '')
    .filter((name) => name.startsWith(rulesName));
}

describe('many hosts', () => {
  it('CS-43 12,000 hosts spread over ConfigMaps that CoreDNS mounts, and no host is ever missing', async () => {
    const count = 12_000;
    const { tick, sandbox, rules } = await open({ SHARD_BYTES: '786432' });
    let edits = 0;
    sandbox.api.subscribe(deployments, () => (edits += 1));
    const lost = watchLines(world);
    for (const part of [0, 1, 2, 3]) {
      const names = named(count / 4, `part${part}`);
      await fill(names);
      expect(await tick()).toBe(204);
    }

    const sizes = shards().map((_, index) => Buffer.byteLength(JSON.stringify(rules(index)?.data ?? {})));
    expect(new Set(world.lines()).size).toBe(count);
    expect(sizes.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_048_576);
    expect(lost()).toEqual([]);
    expect(edits).toBe(0);
  });

  it('fewer shards by a lower MAX_SHARDS take over what the others held, which then go', async () => {
    await open();
    await fill(named(120));
    await world.tick();
    const before = shards().length;
    const lost = watchLines(world);
    const fewer = await world.another({ MAX_SHARDS: '2' });

    expect((await send(fewer.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status).toBe(204);
    expect([before, shards().length]).toEqual([8, 2]);
    expect(new Set(world.lines()).size).toBe(120);
    expect(lost()).toEqual([]);
  });

  it('rules in shards that no state tells of go, too', async () => {
    const { sandbox, tick, lines } = await open();
    await fill(named(120));
    await tick();
    const before = shards().length;
    await sandbox.api.remove(configMaps, { name: 'coredns-sync-state', namespace: 'kube-reflex' });
    for (const name of named(120).slice(65)) {
      await world.remove(name);
    }
    await sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });

    expect(await tick()).toBe(204);
    expect(before).toBe(8);
    expect(lines().toSorted()).toEqual(
      named(65)
        .map((name) => lineOf(`${name}.example.com`))
        .sort(),
    );
  });

  it('they also go when something else than a pass has begun a new state', async () => {
    const { app, sandbox, tick, lines } = await open({ ALLOW_MASS_REMOVAL: 'true' });
    await fill(named(120));
    await tick();
    const before = shards().length;
    await sandbox.api.remove(configMaps, { name: 'coredns-sync-state', namespace: 'kube-reflex' });
    await send(app.url, binaryEvent({ type: 'dev.kube-reflex.coredns-sync.preflight' }));
    for (const name of named(120).slice(10)) {
      await world.remove(name);
    }

    expect(await tick()).toBe(204);
    expect(before).toBe(8);
    expect(lines().toSorted()).toEqual(
      named(10)
        .map((name) => lineOf(`${name}.example.com`))
        .sort(),
    );
  });

  it('a shard that another process wrote into while it was to go is read again', async () => {
    const { sandbox } = await open();
    await fill(named(120));
    await world.tick();
    const fewer = await world.another({ MAX_SHARDS: '2' });
    const last = `${rulesName}-7`;
    sandbox.faults.add({
      verb: 'delete',
      resource: 'configmaps',
      name: last,
      times: 1,
      effect: { do: 'delay', ms: 200 },
    });
    const shrinking = send(fewer.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    await until(() => sandbox.faults.fired.length === 1);
    const current = structuredClone(sandbox.api.get(configMaps, last, 'kube-system')) as ConfigMap;
    Object.assign(current.data ?? {}, { note: 'written meanwhile' });
    await sandbox.api.update(configMaps, current);

    expect((await shrinking).status).toBe(204);
    expect(sandbox.api.get(configMaps, last, 'kube-system')).toBeUndefined();
    expect(new Set(world.lines()).size).toBe(120);
  });

  it('wildcards, which can not spread, make no event cost a list', async () => {
    const { tick, tell, calls, conditions } = await open();
    await fill(named(60), (name) => `*.${name}.example.com`);
    await tick();
    await fill(['more'], () => '*.more.example.com');
    const before = calls.length;

    expect(await tell('add', 'more')).toBe(204);
    expect(calls.slice(before).filter(({ verb }) => verb === 'list')).toEqual([]);
    expect(world.lines()).toHaveLength(61);
    expect(conditions()).not.toHaveProperty('Full');
  });
});

/** Lines of rules that were there at one moment and were not at a later one. */
function watchLines({ sandbox, lines }: World): () => readonly string[] {
  const seen = new Set<string>();
  const lost = new Set<string>();
  sandbox.api.subscribe(configMaps, () => {
    const now = new Set(lines());
    for (const line of seen.difference(now)) {
      lost.add(line);
    }
    now.forEach((line) => seen.add(line));
  });
  return () => [...lost];
}
