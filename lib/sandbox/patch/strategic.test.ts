import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { ApiError } from '../model/status.ts';
import { strategicMerge } from './strategic.ts';
import { at, type Json, listAt } from '../schema/value.ts';

const schema = createSchemas(readDefinitionTable()).of('io.k8s.api.apps.v1.Deployment');
const env = variables({ A: 'A', B: 'B', C: 'C' });
const live = {
  metadata: { labels: { a: 'b', c: 'd' }, finalizers: ['x.dev/a', 'x.dev/b'] },
  spec: {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    template: {
      spec: {
        volumes: [
          { name: 'v1', emptyDir: {} },
          { name: 'v2', emptyDir: { medium: 'Memory' } },
        ],
        tolerations: [{ key: 'a', operator: 'Exists' }],
        containers: [
          { name: 'one', image: 'i:1', env, args: ['x'] },
          { name: 'two', image: 'i:2' },
        ],
      },
    },
  },
};

/** The parts that the patches below touch. */
function parts(object: Json): Json {
  const pod = at(object, 'spec', 'template', 'spec');
  const [container] = listAt(pod, 'containers');
  return {
    labels: at(object, 'metadata', 'labels'),
    finalizers: at(object, 'metadata', 'finalizers'),
    strategy: at(object, 'spec', 'strategy'),
    volumes: at(pod, 'volumes'),
    tolerations: at(pod, 'tolerations'),
    env: at(container, 'env'),
    args: at(container, 'args'),
  };
}

interface Case {
  readonly name: string;
  readonly patch: Json;
  /** What the real API server then has instead. */
  readonly changed: Json;
}

const cases: readonly Case[] = [
  {
    name: 'null removes a field',
    patch: { metadata: { labels: { a: null, e: 'f' } } },
    changed: { labels: { c: 'd', e: 'f' } },
  },
  {
    name: 'a list without strategy is replaced',
    patch: { spec: { template: { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } } } },
    changed: { tolerations: [{ key: 'b', operator: 'Exists' }] },
  },
  {
    name: 'a primitive list without strategy is replaced',
    patch: container({ args: ['y', 'z'] }),
    changed: { args: ['y', 'z'] },
  },
  {
    name: 'items merge by key',
    patch: container({ env: variables({ B: 'changed' }) }),
    changed: {
      env: variables({ A: 'A', B: 'changed', C: 'C' }),
    },
  },
  {
    name: 'a new item goes in front',
    patch: container({ env: variables({ D: 'D' }) }),
    changed: {
      env: variables({ D: 'D', A: 'A', B: 'B', C: 'C' }),
    },
  },
  {
    name: 'new and old items',
    patch: container({
      env: variables({ D: 'D', B: 'b', E: 'E' }),
    }),
    changed: {
      env: variables({ D: 'D', A: 'A', B: 'b', E: 'E', C: 'C' }),
    },
  },
  {
    name: 'patched items take the order of the patch',
    patch: container({
      env: variables({ C: 'c', A: 'a' }),
    }),
    changed: {
      env: variables({ B: 'B', C: 'c', A: 'a' }),
    },
  },
  {
    name: 'set the order',
    patch: container({ '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }, { name: 'B' }] }),
    changed: {
      env: variables({ C: 'C', A: 'A', B: 'B' }),
    },
  },
  {
    name: 'set the order with a new item',
    patch: container({
      '$setElementOrder/env': [{ name: 'C' }, { name: 'N' }, { name: 'A' }],
      env: variables({ N: 'n' }),
    }),
    changed: {
      env: variables({ B: 'B', C: 'C', N: 'n', A: 'A' }),
    },
  },
  {
    name: 'set the order of some',
    patch: container({ '$setElementOrder/env': [{ name: 'C' }, { name: 'B' }] }),
    changed: {
      env: variables({ A: 'A', C: 'C', B: 'B' }),
    },
  },
  {
    name: 'delete an item',
    patch: container({ env: [{ name: 'B', $patch: 'delete' }] }),
    changed: {
      env: variables({ A: 'A', C: 'C' }),
    },
  },
  {
    name: 'delete and add items with an order',
    patch: container({
      '$setElementOrder/env': [{ name: 'X' }, { name: 'A' }, { name: 'C' }],
      env: [
        { name: 'B', $patch: 'delete' },
        { name: 'X', value: 'x' },
      ],
    }),
    changed: {
      env: variables({ X: 'x', A: 'A', C: 'C' }),
    },
  },
  {
    name: 'replace a list',
    patch: container({ env: [{ $patch: 'replace' }, { name: 'Z', value: 'z' }] }),
    changed: { env: variables({ Z: 'z' }) },
  },
  {
    name: 'replace an object',
    patch: { metadata: { labels: { $patch: 'replace', only: 'me' } } },
    changed: { labels: { only: 'me' } },
  },
  { name: 'delete an object', patch: { metadata: { labels: { $patch: 'delete' } } }, changed: { labels: {} } },
  {
    name: 'primitive lists with merge strategy join',
    patch: { metadata: { finalizers: ['x.dev/c', 'x.dev/a'] } },
    changed: { finalizers: ['x.dev/c', 'x.dev/a', 'x.dev/b'] },
  },
  {
    name: 'delete from a primitive list',
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.dev/a'] } },
    changed: { finalizers: ['x.dev/b'] },
  },
  {
    name: 'delete from and add to a primitive list with an order',
    patch: {
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['x.dev/a'],
        '$setElementOrder/finalizers': ['x.dev/z', 'x.dev/b'],
        finalizers: ['x.dev/z'],
      },
    },
    changed: { finalizers: ['x.dev/z', 'x.dev/b'] },
  },
  {
    name: 'retain keys of a union',
    patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    changed: { strategy: { type: 'Recreate' } },
  },
  {
    name: 'retain keys of a volume',
    patch: {
      spec: {
        template: {
          spec: {
            volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v2', configMap: { name: 'c', defaultMode: 420 } }],
          },
        },
      },
    },
    changed: {
      volumes: [
        { name: 'v1', emptyDir: {} },
        { name: 'v2', configMap: { name: 'c', defaultMode: 420 } },
      ],
    },
  },
  {
    name: 'nulls in new items vanish',
    patch: container({ env: [{ name: 'D', value: 'D', valueFrom: null }] }),
    changed: {
      env: variables({ D: 'D', A: 'A', B: 'B', C: 'C' }),
    },
  },
  {
    name: 'delete what is not there',
    patch: container({ env: [{ name: 'Q', $patch: 'delete' }] }),
    changed: {},
  },
  { name: 'no patch', patch: {}, changed: {} },
];

it.each(cases)('merges as the API server does: $name', ({ patch, changed }) => {
  expect(parts(strategicMerge(live, patch, schema))).toEqual({ ...parts(live), ...changed });
});

it.each([
  {
    name: 'retain keys must name what is patched',
    patch: { spec: { strategy: { $retainKeys: ['type'], type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    refusal: [400, 'invalid patch format of retainKeys'],
  },
  {
    name: 'an item without its key',
    patch: container({ env: [{ value: 'x' }] }),
    refusal: [500, 'map: map[value:x] does not contain declared merge key: name'],
  },
  {
    name: 'an unknown directive',
    patch: { metadata: { labels: { $patch: 'nope' } } },
    refusal: [500, 'unknown patch type: nope in map: map[$patch:nope]'],
  },
  {
    name: 'merge directive',
    patch: container({ env: [{ name: 'B', value: 'b', $patch: 'merge' }] }),
    refusal: [500, 'merging lists cannot yet be specified in the patch'],
  },
])('refuses as the API server does: $name', ({ patch, refusal }) => {
  let refused: unknown;
  try {
    strategicMerge(live, patch, schema);
  } catch (error) {
    refused = error instanceof ApiError ? [error.code, error.message] : error;
  }

  expect(refused).toEqual(refusal);
});

it('leaves what it gets as it is, and repeating a patch changes nothing', () => {
  const patches = fc.constantFrom(...cases.map(({ patch }) => patch));
  const before = JSON.stringify(live);

  fc.assert(
    fc.property(patches, (patch) => {
      const once = strategicMerge(live, patch, schema);
      const twice = strategicMerge(once, patch, schema);

      expect(parts(twice)).toEqual(parts(once));
      expect(JSON.stringify(live)).toBe(before);
    }),
  );
});

/** A patch of the first container. */
function container(fields: Json): Json {
  return { spec: { template: { spec: { containers: [{ name: 'one', ...fields }] } } } };
}

function variables(values: Readonly<Record<string, string>>): readonly Json[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
