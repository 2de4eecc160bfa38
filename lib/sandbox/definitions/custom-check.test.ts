import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { checkCustom } from './custom-check.ts';
import { completeCustom } from './custom-complete.ts';
import { customSchema } from './custom-schema.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { at, type Json } from '../schema/value.ts';

/** A write of a custom object to the real API server: what it then stored, or what it said. */
interface Sample {
  readonly spec: Json;
  readonly before?: Json;
  readonly stored?: Json;
  readonly causes?: readonly string[];
}

const { schema: openApi, writes } = JSON.parse(
  readFileSync(new URL('../testdata/custom.json', import.meta.url), 'utf8'),
) as { readonly schema: Json; readonly writes: readonly Sample[] };
const objectMeta = createSchemas(readDefinitionTable()).of('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
const schema = customSchema(openApi, objectMeta);

function gear(spec: Json): { kind: string; metadata: { name: string }; spec: Json } {
  return { kind: 'Gear', metadata: { name: 'x' }, spec };
}

it.each(writes)(
  'completes and judges as the API server does: $before → $spec',
  ({ spec, before, stored, causes = [] }) => {
    const object = completeCustom(gear(spec), schema);

    const found = checkCustom({ object, ...(before && { old: gear(before) }) }, schema);

    expect(found.map(({ field, message }) => `${field ?? ''}: ${message}`).sort()).toEqual(causes);
    if (stored !== undefined) {
      expect(at(object, 'spec')).toEqual(stored);
    }
  },
);

it('judges a write to the status by the status alone', () => {
  const object = { ...gear({ size: 'wrong' }), status: { ok: 3 } };

  const found = checkCustom({ object, old: object, subresource: 'status' }, schema);
  const changed = checkCustom({ object, old: gear({ size: 1 }), subresource: 'status' }, schema);

  expect(found).toEqual([]);
  expect(changed[0]).toEqual({
    reason: 'FieldValueTypeInvalid',
    message: 'Invalid value: "integer": ok in body must be of type boolean: "integer"',
    field: 'status.ok',
  });
});

it('does not judge again what did not change', () => {
  const old = gear({ size: 50, mode: 'gone' });
  const object = { ...gear({ size: 50, mode: 'gone' }), metadata: { name: 'x', labels: { a: 'b' } } };

  expect(checkCustom({ object, old }, schema)).toEqual([]);
});
