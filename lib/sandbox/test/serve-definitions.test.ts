import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { type Sandbox, startSandbox } from '../sandbox.ts';

const definitions = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
const gears = { group: 'example.dev', plural: 'gears' };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Cluster',
    names: { plural: 'gears', kind: 'Gear' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { teeth: { type: 'integer', minimum: 3, default: 12 }, note: { type: 'string' } },
                'x-kubernetes-validations': [{ rule: 'self.teeth % 2 == 0', message: 'must be even' }],
              },
            },
          },
        },
      },
    ],
  },
};

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startSandbox({ controllers: false });
});

afterEach(async () => {
  await sandbox.close();
});

function gear(name: string, spec: object): KubeObject {
  return { apiVersion: 'example.dev/v1', kind: 'Gear', metadata: { name }, ...{ spec } };
}

/** The definition once it reports that it is established. */
async function establish(): Promise<KubeObject> {
  const established = new Promise<KubeObject>((done) => {
    sandbox.api.subscribe(definitions, ({ type, object }) => {
      if (type === 'MODIFIED') {
        done(object);
      }
    });
  });
  await sandbox.api.create(definitions, definition);
  return established;
}

it('reports that a definition is established', async () => {
  expect(await establish()).toMatchObject({
    status: {
      acceptedNames: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
      storedVersions: ['v1'],
    },
  });
});

it('enforces schema, defaults, pruning and rules of a custom kind', async () => {
  await establish();

  const created = await sandbox.api.create(gears, gear('a', { unknown: 1, note: 'x' }));
  const refused = await sandbox.api.create(gears, gear('b', { teeth: 5 })).catch((error: unknown) => error);

  expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { teeth: 12, note: 'x' } });
  expect(created).not.toHaveProperty('spec.unknown');
  expect(refused).toMatchObject({
    code: 422,
    message: 'Gear.example.dev "b" is invalid: spec: Invalid value: must be even',
  });
});

it('ends a custom kind and its objects with its definition', async () => {
  await establish();
  await sandbox.api.create(gears, gear('a', {}));
  const gone = new Promise((done) => {
    sandbox.api.subscribe(definitions, ({ type, object }) => type === 'DELETED' && done(object));
  });

  await sandbox.api.remove(definitions, { name: 'gears.example.dev' });
  await gone;

  expect(sandbox.api.list(gears)).toEqual([]);
  expect(sandbox.api.kinds().filter(({ plural }) => plural === 'gears')).toEqual([]);
});
