import { customSchema } from './custom-schema.ts';
import type { Column, Kind, ScalePaths, Subresource } from '../model/kinds.ts';
import type { Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { at, listAt, objectAt, stringAt } from '../schema/value.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const partVerbs = ['get', 'patch', 'update'];
const nameColumn: Column = { name: 'Name', type: 'string', format: 'name', priority: 0 };
const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  format: '',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
};

/** The kinds that an accepted definition adds: one for each version that it serves. */
export function customKinds(definition: unknown, objectMeta: Schema): readonly Kind[] {
  return listAt(definition, 'spec', 'versions')
    .filter((version) => at(version, 'served') === true)
    .map((version) => customKind(objectAt(definition, 'spec'), version, objectMeta));
}

function customKind(spec: object, version: unknown, objectMeta: Schema): Kind {
  const group = stringAt(spec, 'group') ?? '';
  const kind = stringAt(spec, 'names', 'kind') ?? '';
  const name = stringAt(version, 'name') ?? '';
  const openApi = objectAt(version, 'schema', 'openAPIV3Schema');
  const scale = scaleOf(version);
  return {
    group,
    version: name,
    kind,
    listKind: stringAt(spec, 'names', 'listKind') ?? `${kind}List`,
    plural: stringAt(spec, 'names', 'plural') ?? '',
    singular: stringAt(spec, 'names', 'singular') ?? kind.toLowerCase(),
    shortNames: listAt(spec, 'names', 'shortNames').map(String),
    categories: listAt(spec, 'names', 'categories').map(String),
    namespaced: stringAt(spec, 'scope') === 'Namespaced',
    verbs,
    subresources: subresourcesOf(version, { group, version: name, kind }),
    columns: columnsOf(version),
    fieldSelectors: ['metadata.name', 'metadata.namespace', ...selectableFields(version)],
    schema: customSchema(openApi, objectMeta),
    openApi,
    isCustom: true,
    ...(scale === undefined ? {} : { scale }),
  };
}

function subresourcesOf(
  version: unknown,
  own: { group: string; version: string; kind: string },
): readonly Subresource[] {
  const parts = objectAt(version, 'subresources');
  return [
    ...(isRecord(parts['status']) ? [{ name: 'status', ...own, verbs: partVerbs }] : []),
    ...(isRecord(parts['scale'])
      ? [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: partVerbs }]
      : []),
  ];
}

function scaleOf(version: unknown): ScalePaths | undefined {
  const scale = at(version, 'subresources', 'scale');
  if (!isRecord(scale)) {
    return undefined;
  }
  const labelSelectorPath = stringAt(scale, 'labelSelectorPath');
  return {
    specReplicasPath: stringAt(scale, 'specReplicasPath') ?? '',
    statusReplicasPath: stringAt(scale, 'statusReplicasPath') ?? '',
    ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }),
  };
}

function columnsOf(version: unknown): readonly Column[] {
  const declared = listAt(version, 'additionalPrinterColumns').map((column) => ({
    name: stringAt(column, 'name') ?? '',
    type: stringAt(column, 'type') ?? 'string',
    format: stringAt(column, 'format') ?? '',
    priority: Number(at(column, 'priority') ?? 0),
    jsonPath: stringAt(column, 'jsonPath') ?? '',
  }));
  return [nameColumn, ...(declared.length === 0 ? [ageColumn] : declared)];
}

/** `.spec.color` is selected as `spec.color`. */
function selectableFields(version: unknown): readonly string[] {
  return listAt(version, 'selectableFields').map((field) => (stringAt(field, 'jsonPath') ?? '').replace(/^\./, ''));
}
