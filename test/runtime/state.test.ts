import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Document } from '../../lib/kube/state/document.ts';
import { openState } from '../../lib/kube/state/state.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { defineFunction } from '../../lib/runtime/define.ts';
import hostCensus from '../functions/host-census/index.ts';
import { openWorld, ownNamespace, type World } from '../support/world.ts';

const document: Document<number> = {
  name: 'counter-state',
  schema: 1,
  parse: ({ count }) => Number(count ?? 0),
  format: (count) => ({ count: String(count) }),
};

const counter = defineFunction({
  name: 'counter',
  summary: 'counts ticks',
  config: hostCensus.config,
  tick: {
    schedule: '* * * * *',
    handle: async (context) => {
      const state = await openState(document, context);
      await state.update((count) => count + 1);
    },
  },
  permissions: () => [
    { groups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], names: [document.name], scope: 'own' },
    { groups: [''], resources: ['configmaps'], verbs: ['create'], scope: 'own' },
  ],
});

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('reports StateOfLaterRelease and answers 503 until the state can be read again, and leaves it alone', async () => {
  const place = { namespace: ownNamespace, name: document.name };
  const replica = await world.start(counter);
  await world.apply(configMaps, { metadata: place, data: { schema: '2', count: '7' } });

  expect(await replica.tick()).toBe(503);
  expect(await replica.read('/status')).toEqual({
    conditions: [
      {
        type: 'StateOfLaterRelease',
        severity: 'error',
        messages: [
          expect.stringContaining('could not read ConfigMap counter-state: a later release wrote it (schema 2)'),
        ],
        count: 1,
      },
    ],
  });
  expect((await world.get(configMaps, place))?.data).toEqual({ schema: '2', count: '7' });

  await world.remove(configMaps, place);
  expect(await replica.tick()).toBe(204);
  expect(await replica.read('/status')).toEqual({ conditions: [] });
  expect((await world.get(configMaps, place))?.data).toEqual({ schema: '1', count: '1' });
});
