import { afterEach, describe, expect, it } from '@jest/globals';
import { podWith, pool, poolKey, preference } from '../testing/pods.ts';
import {
  mutatingWebhooks,
  namespaces,
  pods,
  type MutatingWebhookConfiguration,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { send } from '../../../test/support/http.ts';
import { installWebhook, openWorld, type World } from './world.ts';

let world: World;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('the coverage report', () => {
  it('counts the running pods that were missed, by workload, and nothing else', async () => {
    world = await openWorld({ environment: { COVERAGE: 'true' } });
    await world.addNode('worker');
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true };
    const affinity = {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          preference(1, { key: poolKey, operator: 'In', values: [pool] }),
        ],
      },
    };
    for (const [name, spec, metadata] of [
      ['missed-1', { nodeName: 'worker' }, { ownerReferences: [owner] }],
      ['missed-2', {}, { ownerReferences: [owner] }],
      ['covered', { affinity, nodeName: 'worker' }, {}],
      ['opted-out', {}, { labels: { 'node-affinity-mutate.kube-reflex.dev/skip': 'true' } }],
      ['elsewhere', {}, { namespace: 'default' }],
    ] as const) {
      await createPod({ namespace: 'shop', ...metadata, name }, spec);
    }

    await world.tick();

    expect(JSON.parse(world.state()?.['coverage.json'] ?? '')).toEqual({
      uncovered: 2,
      workloads: { 'shop/ReplicaSet/web': 2 },
    });
    expect(await world.metric('uncovered_pods')).toBe(2);
  });

  it('knows unmanaged namespaces also where the state has no room for them', async () => {
    world = await openWorld({ environment: { COVERAGE: 'true' } });
    await world.addNode('worker');
    const values = Array.from({ length: 200 }, (_, index) => String(index).padStart(63, '0'));
    const annotations = { 'node-affinity-mutate.kube-reflex.dev/pool': `speed in (${values.join(',')})` };
    for (let count = 0; count < 50; count += 1) {
      await world.sandbox.api.create(namespaces, { metadata: { name: `large-${count}`, annotations } });
    }
    await createPod({ namespace: 'team-x', name: 'unmanaged' }, {});

    await world.tick();

    expect(Object.keys(JSON.parse(world.state()?.['namespaces.json'] ?? '') as object)).toEqual(['shop']);
    expect(await world.metric('uncovered_pods')).toBe(0);
  });

  it('is not made unless it is asked for', async () => {
    world = await openWorld();

    await world.tick();

    expect(world.calls.some(({ resource }) => resource === 'pods')).toBe(false);
    expect(world.state()).not.toHaveProperty(['coverage.json']);
  });
});

describe('a webhook configuration that follows the rules', () => {
  const rules = `
- name: fast
  match: { namespaces: [team-*], podSelector: { matchLabels: { app: web } } }
  pool: { key: speed, values: [high] }
- name: batch
  match: { ownerKinds: [Job], excludePodLabels: { app: db } }
  pool: { key: speed, values: [low] }
`;

  it('keeps pods in the API server that no rule is for, and touches only two fields of its own entry', async () => {
    world = await openWorld({ environment: { MANAGE_WEBHOOK: 'full' } });
    await world.addNode('fast', { speed: 'high' });
    await world.writeRules(rules);
    await installWebhook(world);
    const before = configuration();

    await world.tick();
    const after = configuration();
    const asked = await Promise.all(
      [
        [{ namespace: 'shop', name: 'a', labels: { app: 'web' } }, false],
        [{ namespace: 'team-x', name: 'a', labels: { app: 'web' } }, true],
        [{ namespace: 'team-x', name: 'b' }, false],
      ].map(async ([metadata, expected]) => [await changes(metadata as object), expected]),
    );

    expect(asked.map(([changed]) => changed)).toEqual(asked.map(([, expected]) => expected));
    const { namespaceSelector: _selector, matchConditions: _conditions, ...kept } = after;
    expect(before).toMatchObject(kept);
    expect(
      world.calls.filter(({ verb, resource }) => verb === 'patch' && resource.startsWith('mutating')),
    ).toHaveLength(1);
  });

  it.each([
    ['full', 1],
    ['caBundle', 0],
  ])('with MANAGE_WEBHOOK=%s it is written %d times in two passes', async (MANAGE_WEBHOOK, times) => {
    world = await openWorld({ environment: { MANAGE_WEBHOOK } });
    await world.writeRules(rules);
    await installWebhook(world);

    await world.tick();
    await world.tick();

    const writes = world.calls.filter(({ verb, resource }) => verb === 'patch' && resource.startsWith('mutating'));
    expect(writes).toHaveLength(times);
  });
});

it('offers the metrics of kim-snatch if that is wanted', async () => {
  world = await openWorld({ environment: { PARITY_METRICS: 'true' } });
  await world.addNode('worker');
  await world.tick();

  const { body } = await send(world.app.url, { method: 'GET', path: '/metrics' });

  expect(body).toContain('\nkim_snatch_shoots_default 1\n');
  expect(body).toContain('\nkim_snatch_shoots_fallback 0\n');
});

function configuration(): Record<string, unknown> {
  const found: MutatingWebhookConfiguration = world.sandbox.api.get(mutatingWebhooks, 'node-affinity-mutate') ?? {};
  return { ...found.webhooks?.[0] };
}

/** Whether a pod with this metadata is changed on its way. */
async function changes(metadata: object): Promise<boolean> {
  const { spec } = (await createPod(metadata, {})) as { spec?: { affinity?: unknown } };
  return spec?.affinity !== undefined;
}

function createPod(metadata: object, spec: object): Promise<KubeObject> {
  return world.sandbox.api.create(pods, podWith(spec, metadata));
}
