import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap, type Deployment } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { ingressOf, lineOf, openWorld, rulesName, until, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

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

  it('CS-37 an edit of a further shard is undone by its event', async () => {
    const { sandbox, tick, tell, lines, rules } = await open();
    await fill(named(120));
    await tick();
    const before = lines();
    const shard = rules(1);
    const data = { ...shard?.data, 'dynamic-1.server': 'rewrite name exact a.example.com b.example.com.\n' };
    await sandbox.api.update(configMaps, { ...shard, data } as ConfigMap);
    expect(lines()).not.toEqual(before);

    const event = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };
    expect(await tell('update', `${rulesName}-1`, event)).toBe(204);
    expect(lines()).toEqual(before);
  });

  it('CS-20 wildcards are all in the file that CoreDNS reads last', async () => {
    const { tick, rules } = await open();
    await fill(named(120));
    await fill(named(60, 'wide'), (name) => `*.${name}.example.com`);
    await tick();

    const files = shards()
      .flatMap((_, index) => Object.entries(rules(index)?.data ?? {}))
      .filter(([key]) => key.endsWith('.server'))
      .toSorted(([left], [right]) => (left < right ? -1 : 1));
    const counts = files.map(([, text]) => text.split('\n').filter((line) => line.includes(' regex ')).length);
    expect(files).toHaveLength(8);
    expect(counts).toEqual([0, 0, 0, 0, 0, 0, 0, 60]);
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

describe('shards that CoreDNS does not mount', () => {
  it('hold no host of a peer, whose volume shows one ConfigMap and stays as it is', async () => {
    world = await openWorld({ ...spread, ADOPT: 'true' });
    await fill(named(60));
    await leaveToPeer(named(60));
    const least = watchPods();
    await world.tick();
    await world.rollOut();
    await world.tick();

    expect([mounted(), shards()]).toEqual([[0], [rulesName]]);
    expect(new Set(world.lines()).size).toBe(60);
    expect(least()).toBe(60);
  });

  it.each([
    ['an event about the Deployment', (to: Running) => world.tell('update', 'coredns', { ...deploymentEvent, to })],
    ['a second tick', tickOf],
  ])('hold no host after a higher MAX_SHARDS and %s, but do once it is rolled out', async (_what, wake) => {
    await open({ MAX_SHARDS: '2' });
    await fill(named(60));
    await world.tick();
    const least = watchPods();
    const more = await world.another({ MAX_SHARDS: '4' });

    expect([await tickOf(more), await wake(more)]).toEqual([204, 204]);
    expect(mounted()).toEqual([0, 1, 2, 3]);
    expect(shards()).toHaveLength(2);
    await world.rollOut();
    await tickOf(more);

    expect(shards()).toHaveLength(4);
    expect(new Set(world.lines()).size).toBe(60);
    expect(least()).toBe(60);
  });
});

const deploymentEvent = { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'kube-system' };

async function tickOf({ url }: Running): Promise<number> {
  return (await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status;
}

function coreDns(): Deployment {
  return structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
}

/** The peer's rules for these, which CoreDNS mounts as the peer does. */
async function leaveToPeer(names: readonly string[]): Promise<void> {
  const object = coreDns();
  const pod = object.spec?.template.spec;
  const name = 'coredns-ingress-sync-volume';
  const mountPath = '/etc/coredns/custom/coredns-ingress-sync';
  pod?.volumes?.push({ name, configMap: { name: rulesName } });
  pod?.containers[0]?.volumeMounts?.push({ name, mountPath, readOnly: true });
  await world.sandbox.api.update(deployments, object);
  const labels = { 'app.kubernetes.io/managed-by': 'coredns-ingress-sync' };
  const text = names.map((each) => `${lineOf(`${each}.example.com`)}\n`).join('');
  const metadata = { name: rulesName, namespace: 'kube-system', labels };
  await world.sandbox.api.create(configMaps, { metadata, data: { 'dynamic.server': text } } as ConfigMap);
}

/** The shards that the template of CoreDNS mounts. */
function mounted(): readonly number[] {
  const text = JSON.stringify(coreDns().spec?.template.spec?.volumes ?? []);
  return Array.from({ length: 8 }, (_, index) => index).filter((index) =>
    text.includes(`"${index === 0 ? rulesName : `${rulesName}-${index}`}"`),
  );
}

/** To how few hosts the pods, which mount what their template said when they were last rolled out, had rules since. */
function watchPods(): () => number {
  const { sandbox, rules } = world;
  let shown = mounted();
  let least = Infinity;
  function look(): void {
    const texts = shown.map(
      (index) => rules(index)?.data?.[index === 0 ? 'dynamic.server' : `dynamic-${index}.server`],
    );
    least = Math.min(least, new Set(texts.join('\n').match(/(?<=exact )\S+/g)).size);
  }
  look();
  sandbox.api.subscribe(configMaps, look);
  sandbox.api.subscribe(deployments, () => {
    const { metadata, status } = coreDns();
    shown = metadata?.generation === status?.observedGeneration ? mounted() : shown;
  });
  return () => least;
}

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
