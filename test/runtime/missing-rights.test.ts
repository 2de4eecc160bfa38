import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { defineFunction } from '../../lib/runtime/define.ts';
import hostCensus from '../functions/host-census/index.ts';
import { openWorld, ownNamespace, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Reads these ConfigMaps in turn, whatever comes of each; it has the right to one of them. */
function reading(names: readonly string[]): ReturnType<typeof defineFunction> {
  return defineFunction({
    name: 'reading',
    summary: 'reads ConfigMaps',
    config: hostCensus.config,
    tick: {
      schedule: '* * * * *',
      handle: async ({ kube, namespace }) => {
        for (const name of names) {
          await kube.get(configMaps, { namespace, name }).catch(() => undefined);
        }
      },
    },
    permissions: () => [{ groups: [''], resources: ['configmaps'], verbs: ['get'], names: ['granted'], scope: 'own' }],
  });
}

it('RightMissing stands although the same verb is granted for another object', async () => {
  const replica = await world.start(reading(['refused', 'granted']));

  await replica.tick();

  expect(await replica.read('/status')).toMatchObject({
    conditions: [
      {
        type: 'RightMissing',
        messages: [`could not get configmaps in namespace ${ownNamespace}: forbidden`],
        count: 1,
      },
    ],
  });
});

it('RightMissing names a right once, for however many objects it is missing', async () => {
  const replica = await world.start(reading(['one', 'two', 'three']));

  await replica.tick();

  expect(await replica.read('/status')).toMatchObject({ conditions: [{ type: 'RightMissing', count: 1 }] });
});

it('RightMissing ends hours after the last refusal, since the object may be gone that it was about', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const names = ['refused'];
  const replica = await world.start(reading(names), { now: () => now });
  await replica.tick();
  names.splice(0, 1, 'granted');

  now = new Date('2026-01-01T01:00:00Z');
  await replica.tick();
  expect(await replica.read('/status')).toMatchObject({ conditions: [{ type: 'RightMissing' }] });

  now = new Date('2026-01-01T03:00:00Z');
  await replica.tick();
  expect(await replica.read('/status')).toMatchObject({ conditions: [] });
});
