import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../kube/model/wire.ts';
import { type Apply, serverSideApply } from './apply.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { ApiError } from '../model/status.ts';
import { at } from '../schema/value.ts';

const schemas = createSchemas(readDefinitionTable());
const now = new Date('2026-01-01T00:00:00Z');
const keys = fc.constantFrom('a', 'b', 'c', 'd');
const values = fc.constantFrom('1', '2', '3');
const data = fc.dictionary(keys, values);
const someData = fc.dictionary(keys, values, { minKeys: 1 });

function config(fields: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...{ data: fields } };
}

function apply(applied: KubeObject, live?: KubeObject, options: Partial<Apply> = {}): KubeObject {
  const schema = schemas.of('io.k8s.api.core.v1.ConfigMap');
  const base = { manager: 'me', apiVersion: 'v1', kind: 'ConfigMap', force: false, schema, now };
  return serverSideApply({ ...base, applied, ...(live && { live }), ...options });
}

function stored(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid: 'u' } };
}

describe('server-side apply', () => {
  it('changes nothing when repeated', () => {
    fc.assert(
      fc.property(data, (fields) => {
        const once = stored(apply(config(fields)));

        expect(apply(config(fields), once)).toEqual(once);
      }),
    );
  });

  it('leaves an only manager with exactly what it applied last', () => {
    fc.assert(
      fc.property(data, data, (first, second) => {
        const live = stored(apply(config(first)));

        expect(at(apply(config(second), live), 'data') ?? {}).toEqual(second);
      }),
    );
  });

  it('never takes away what another manager applies', () => {
    fc.assert(
      fc.property(data, data, (mine, theirs) => {
        const live = stored(apply(config(theirs), undefined, { manager: 'they' }));
        const both = stored(apply(config(mine), live, { force: true }));

        const left = apply(config({}), both);

        const kept = Object.entries(theirs).filter(([name, value]) => mine[name] === undefined || mine[name] === value);
        expect(at(left, 'data') ?? {}).toMatchObject(Object.fromEntries(kept));
      }),
    );
  });

  it('conflicts exactly where it would change what another manager owns', () => {
    fc.assert(
      fc.property(someData, someData, (mine, theirs) => {
        const live = stored(apply(config(theirs), undefined, { manager: 'they' }));
        const contested = Object.keys(mine).filter((name) => theirs[name] !== undefined && theirs[name] !== mine[name]);

        let fields: (string | undefined)[] = [];
        try {
          apply(config(mine), live);
        } catch (error) {
          fields = (error instanceof ApiError ? (error.status.details?.causes ?? []) : []).map(({ field }) => field);
        }

        expect(fields.sort()).toEqual(contested.map((name) => `.data.${name}`).sort());
      }),
    );
  });

  it('conflicts over an empty map that another manager applies, because it is not stored', () => {
    const live = stored(apply(config({}), undefined, { manager: 'they' }));

    expect(live).not.toHaveProperty('data');
    expect(() => apply(config({}), live)).toThrow('Apply failed with 1 conflict: conflict with "they": .data');
  });

  it.each([
    [{ apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } }, 'invalid object type: /v2, Kind=ConfigMap'],
    [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }, 'invalid object type: /v1, Kind=Secret'],
    [{ ...config({}), metadata: { name: 'x', managedFields: [] } }, 'metadata.managedFields must be nil'],
    [
      { ...config({}), ...{ nope: 1 } },
      'failed to create typed patch object (/x; /v1, Kind=ConfigMap): .nope: field not declared in schema',
    ],
  ])('refuses %j as the API server does', (applied, message) => {
    expect(() => apply(applied)).toThrow(message);
  });

  it('refuses items with the same key', () => {
    const container = { name: 'web', image: 'a' };
    const applied = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x' },
      ...{ spec: { containers: [container, container] } },
    };

    expect(() => apply(applied, undefined, { kind: 'Pod', schema: schemas.of('io.k8s.api.core.v1.Pod') })).toThrow(
      'failed to create typed patch object (/x; /v1, Kind=Pod): .spec.containers: duplicate entries for key [name="web"]',
    );
  });
});
