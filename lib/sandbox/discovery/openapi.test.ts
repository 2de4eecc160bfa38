import { describe, expect, it } from '@jest/globals';
import { builtInKinds, createKinds } from '../model/kinds.ts';
import { openApiIndex, openApiV3 } from './openapi.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable, readKindTable } from '../schema/tables.ts';
import { anyKind } from '../test/kind.ts';

const definitions = readDefinitionTable();
const kinds = createKinds(builtInKinds(readKindTable(), createSchemas(definitions)));

/** Every reference in a document, by its full text. */
function references(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) {
    return [];
  }
  const own = '$ref' in node && typeof node.$ref === 'string' ? [node.$ref] : [];
  return [...own, ...Object.values(node).flatMap(references)];
}

describe('OpenAPI', () => {
  it('names a document for each group and version', () => {
    expect(openApiIndex(kinds)).toMatchObject({
      paths: {
        'api/v1': {},
        'apis/apps/v1': { serverRelativeURL: expect.stringContaining('/openapi/v3/apis/apps/v1?hash=') },
      },
    });
  });

  it('defines all that it refers to', () => {
    const v3 = openApiV3(kinds, definitions, 'apis/apps/v1') as { components: { schemas: object } };
    const names3 = new Set(Object.keys(v3.components.schemas).map((name) => `#/components/schemas/${name}`));

    expect(references(v3).filter((reference) => !names3.has(reference))).toEqual([]);
  });

  it('says that patches take fieldValidation, which kubectl looks for', () => {
    const { paths } = openApiV3(kinds, definitions, 'apis/apps/v1') as { paths: Record<string, object> };

    expect(paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']).toMatchObject({
      patch: {
        parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation', in: 'query' })]),
        'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
      },
    });
  });

  it('describes custom kinds by their own schema', () => {
    const widgets = anyKind({
      group: 'example.com',
      plural: 'widgets',
      kind: 'Widget',
      isCustom: true,
      openApi: { type: 'object' },
    });
    kinds.setCustom(widgets, [widgets]);

    expect(openApiV3(kinds, definitions, 'apis/example.com/v1')).toMatchObject({
      components: { schemas: { 'com.example.v1.Widget': { type: 'object' } } },
    });
    expect(openApiV3(kinds, definitions, 'apis/none/v1')).toBeUndefined();
  });
});
