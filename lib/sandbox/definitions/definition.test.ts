import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { withDefaults } from '../defaults/defaults.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { invalid } from '../model/status.ts';
import { validate } from '../validation/validation.ts';
import type { Json } from '../schema/value.ts';
import { definitionStatus } from './conditions.ts';
import { customKinds } from './custom-kinds.ts';

/** A definition that was sent to the real API server; without message it was accepted. */
interface Sample {
  readonly name: string;
  readonly body: KubeObject;
  readonly message?: string;
}

const samples = JSON.parse(
  readFileSync(new URL('../testdata/definitions.json', import.meta.url), 'utf8'),
) as readonly Sample[];
const kind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };
const schemas = createSchemas(readDefinitionTable());
const definitionSchema = schemas.of(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
);

function judged(body: KubeObject): string | undefined {
  const causes = validate({ kind, object: withDefaults(body, definitionSchema) });
  return causes.length === 0 ? undefined : invalid(kind, body.metadata?.name ?? '', causes).message;
}

it.each(samples)('judges a definition as the API server does: $name', ({ body, message }) => {
  expect(judged(body)).toBe(message);
});

function definition(rule: string): KubeObject {
  const spec = { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule }] };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    metadata: { name: 'gears.example.dev' },
    ...{
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural: 'gears', kind: 'Gear', shortNames: ['gr'] },
        versions: [
          { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
          { name: 'v1beta1', served: false, storage: false, schema: { openAPIV3Schema } },
        ],
      },
    },
  };
}

it.each(['self.a == "x"', 'self.a >', 'self.a.foo()', 'quantity(self.a) > 1', 'self.zz'])(
  'refuses a rule that it cannot evaluate: %s',
  (rule) => {
    expect(judged(definition(rule))).toContain('compilation failed: ERROR: <input>:1:');
  },
);

it('refuses two versions of one name', () => {
  const { spec, ...rest } = definition('self.a > 1') as KubeObject & { spec: { versions: object[] } };
  const versions = spec.versions.map((version) => ({ ...version, name: 'v1' }));

  expect(judged({ ...rest, ...{ spec: { ...spec, versions } } })).toContain('must contain unique version names');
});

describe('an accepted definition', () => {
  const now = '2026-01-01T00:00:00Z';
  const accepted = withDefaults(definition('self.a > 1'), definitionSchema) as Json;

  it('is established at once', () => {
    const status = definitionStatus(accepted, [], now);

    expect(status).toEqual({
      acceptedNames: { plural: 'gears', kind: 'Gear', singular: 'gear', listKind: 'GearList', shortNames: ['gr'] },
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: now,
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: now,
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      storedVersions: ['v1'],
    });
  });

  it('keeps the time of a condition that stays', () => {
    const status = definitionStatus(accepted, [], now);

    expect(definitionStatus({ ...accepted, status }, [], '2026-02-02T00:00:00Z')).toEqual(status);
  });

  it('waits while another definition has a name of it', () => {
    const rival = { status: { acceptedNames: { plural: 'grinders', kind: 'Grinder', shortNames: ['gr'] } } };

    const { conditions } = definitionStatus(accepted, [rival], now);

    expect(conditions).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"gr" is already in use' },
      { type: 'Established', status: 'False', reason: 'NotAccepted' },
    ]);
  });

  it('adds a kind for each version that it serves', () => {
    const kinds = customKinds(accepted, schemas.of('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'));

    expect(kinds).toMatchObject([
      {
        group: 'example.dev',
        version: 'v1',
        kind: 'Gear',
        listKind: 'GearList',
        plural: 'gears',
        namespaced: true,
        shortNames: ['gr'],
        subresources: [{ name: 'status', kind: 'Gear', verbs: ['get', 'patch', 'update'] }],
        columns: [{ name: 'Name' }, { name: 'Age', jsonPath: '.metadata.creationTimestamp' }],
        isCustom: true,
      },
    ]);
  });
});
