import { afterEach, describe, expect, it } from '@jest/globals';
import { preferredField } from '../placement.ts';
import { applyAdditions } from '../testing/lossless.ts';
import { managedLabels, ourTerm, podWith } from '../testing/pods.ts';
import { namespaces, nodes } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { openWorld, type World } from './world.ts';

let world: World;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('pools come and go', () => {
  it('NA-38 a pool is noticed by a tick, without a restart', async () => {
    world = await openWorld();
    await world.tick();
    const before = await world.decisionFor();
    const inactive = await world.metric('pool_active');

    await world.addNode('worker');
    const { status } = await world.tick();
    const after = await world.decisionFor();

    expect(status).toBe(204);
    expect([before.patch, before.auditAnnotations, inactive]).toEqual([undefined, { decision: 'pool-absent' }, 0]);
    expect(patched(after)).toMatchObject({
      spec: { affinity: { nodeAffinity: { [preferredField]: [ourTerm] } } },
    });
    expect(await world.metric('pool_active')).toBe(1);
  });

  it('a pool that was missing is also noticed when a namespace changes', async () => {
    world = await openWorld();
    await world.tick();
    await world.addNode('worker');

    await world.tell('Namespace', 'shop');

    expect((await world.decisionFor()).patch).toBeDefined();
  });

  it('NA-40 after its last node a pool counts for the grace period and no longer', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    world = await openWorld({ now: () => now });
    await world.addNode('worker');
    await world.tick();

    await world.sandbox.api.remove(nodes, { name: 'worker' });
    await world.tick();
    now = new Date('2026-01-01T00:04:59Z');
    await world.tick();
    const within = await world.decisionFor();
    now = new Date('2026-01-01T00:05:00Z');
    await world.tick();
    const after = await world.decisionFor();

    expect(within.patch).toBeDefined();
    expect(after).toMatchObject({ allowed: true, auditAnnotations: { decision: 'pool-absent' } });
  });

  it('a node that comes back in time leaves no trace', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    world = await openWorld({ now: () => now });
    await world.addNode('worker');
    await world.tick();
    const before = world.state();

    await world.sandbox.api.remove(nodes, { name: 'worker' });
    await world.tick();
    now = new Date('2026-01-01T00:04:00Z');
    await world.addNode('worker');
    await world.tick();

    expect(world.state()).toEqual(before);
  });

  it('NA-41 when nodes cannot be listed, what is known stays and the process lives', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    world.sandbox.faults.add({ verb: 'list', resource: 'nodes', effect: { do: 'refuse', status: 403 } });
    await world.sandbox.api.create(namespaces, namespaceNamed('late'));

    const { status } = await world.tick();

    expect(status).toBeGreaterThanOrEqual(400);
    expect((await world.decisionFor()).patch).toBeDefined();
    expect(JSON.parse(world.state()?.['namespaces.json'] ?? '')).toHaveProperty('late');
  });
});

describe('what events do', () => {
  it('NA-55 repeated, reordered and unknown events are answered 204 and leave the state of a single pass', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    const once = world.state();

    const answers = [
      await world.tell('Namespace', 'shop', 'delete'),
      await world.tell('Namespace', 'shop', 'add'),
      await world.tell('Namespace', 'shop', 'add'),
      await world.tell('Namespace', 'never-was'),
      await world.tell('ConfigMap', 'node-affinity-mutate-state'),
      await world.tell('Secret', 'other'),
      await world.tick(),
    ];

    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204, 204, 204]);
    expect(world.state()).toEqual(once);
    expect(world.calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')).toHaveLength(1);
  });

  it('NA-56 while the API is away an event is answered 503, and a later one succeeds', async () => {
    world = await openWorld();
    await world.addNode('worker');
    const restore = world.sandbox.faults.add({ effect: { do: 'refuse', status: 503 } });

    const away = await world.tick();
    restore();
    const back = await world.tick();

    expect([away.status, back.status]).toEqual([503, 204]);
    expect((await world.decisionFor()).patch).toBeDefined();
  });

  it('a namespace that loses its label, opts out or names a pool is known by its event', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.addNode('fast', { speed: 'high' });
    await world.tick();
    const reasons: unknown[] = [];

    for (const metadata of [
      { labels: {} },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/skip': 'true' } },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/pool': 'speed=high' } },
      { labels: managedLabels, annotations: { 'node-affinity-mutate.kube-reflex.dev/pool': 'a=b=c' } },
    ]) {
      const present = world.sandbox.api.get(namespaces, 'shop');
      await world.sandbox.api.update(namespaces, { ...present, metadata: { ...present?.metadata, ...metadata } });
      await world.tell('Namespace', 'shop');
      reasons.push((await world.decisionFor()).auditAnnotations);
    }

    expect(reasons).toEqual([
      { decision: 'unmanaged-namespace' },
      { decision: 'opted-out' },
      { decision: 'mutated', rule: 'namespace' },
      { decision: 'mutated', rule: 'default' },
    ]);
  });

  it('a pass without a difference reads what it must and writes nothing', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.tick();
    world.calls.length = 0;

    await world.tick();
    const full = world.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);
    await world.tell('Namespace', 'shop');
    const narrow = world.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);

    expect(full).toEqual(['get configmaps', 'get configmaps', 'list namespaces', 'list nodes']);
    expect(narrow).toEqual(['get configmaps', 'get namespaces']);
  });
});

function patched({ patch = '' }: { readonly patch?: string }): unknown {
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as { op: string; path: string }[];
  return JSON.parse(applyAdditions(JSON.stringify(podWith()), operations).after);
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
