import { compileExpression, type Expression, type Variables } from '../cel/cel.ts';
import {
  freeform,
  type Constraints,
  type Schema,
  type Shape,
  type Sharing,
  type ValidationRule,
} from '../schema/schema.ts';
import type { JsonType } from '../schema/tables.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json, listAt, objectAt, stringAt } from '../schema/value.ts';

const types: readonly JsonType[] = ['string', 'integer', 'number', 'boolean', 'object', 'array'];

/** The schema of a custom kind from its `openAPIV3Schema`; every object has the fields of any Kubernetes object. */
export function customSchema(openApi: Json, objectMeta: Schema): Schema {
  return compile(openApi, objectMeta, true);
}

function compile(node: Json, objectMeta: Schema, isObjectRoot = false): Schema {
  const properties = propertiesOf(node, objectMeta, isObjectRoot || node['x-kubernetes-embedded-resource'] === true);
  const { items, additionalProperties: values } = node;
  const schema = {
    ...facts(node, properties.size > 0),
    properties,
    ...(isRecord(items) ? { items: compile(items, objectMeta) } : {}),
    ...(isMapOf(values) ? { values: isRecord(values) ? compile(values, objectMeta) : freeform } : {}),
  };
  return { ...schema, constraints: constraintsOf(node, schema) };
}

function propertiesOf(node: Json, objectMeta: Schema, isRoot: boolean): ReadonlyMap<string, Schema> {
  const properties = new Map<string, Schema>(isRoot ? objectFields(objectMeta) : []);
  for (const [name, property] of Object.entries(objectAt(node, 'properties'))) {
    if (isRecord(property) && !(isRoot && name === 'metadata')) {
      properties.set(name, compile(property, objectMeta));
    }
  }
  return properties;
}

function isMapOf(values: unknown): boolean {
  return values === true || isRecord(values);
}

const text: Schema = { ...freeform, shape: 'scalar', type: 'string', keepsUnknown: false };

function objectFields(objectMeta: Schema): [string, Schema][] {
  return [
    ['apiVersion', text],
    ['kind', text],
    ['metadata', objectMeta],
  ];
}

function facts(node: Json, hasProperties: boolean): Schema {
  const shape = shapeOf(node, hasProperties);
  const type = types.find((name) => name === node['type']);
  const format = stringAt(node, 'format');
  return {
    ...freeform,
    shape,
    sharing: sharingOf(node, shape),
    keys: listAt(node, 'x-kubernetes-list-map-keys').map(String),
    required: listAt(node, 'required').map(String),
    keepsUnknown: node['x-kubernetes-preserve-unknown-fields'] === true,
    ...(type === undefined || node['x-kubernetes-int-or-string'] === true ? {} : { type }),
    ...(format === undefined ? {} : { format }),
    ...(isList(node['enum']) ? { enum: node['enum'] } : {}),
    ...(node['default'] === undefined ? {} : { default: node['default'] }),
  };
}

function shapeOf(node: Json, hasProperties: boolean): Shape {
  if (node['x-kubernetes-int-or-string'] === true) {
    return 'scalar';
  }
  if (node['type'] === 'array') {
    return 'list';
  }
  if (isMapOf(node['additionalProperties'])) {
    return 'map';
  }
  const keepsUnknown = node['x-kubernetes-preserve-unknown-fields'] === true;
  if (hasProperties || (node['type'] === 'object' && !keepsUnknown)) {
    return 'struct';
  }
  return keepsUnknown || node['type'] === undefined ? 'any' : 'scalar';
}

function sharingOf(node: Json, shape: Shape): Sharing {
  if (shape === 'list') {
    const listType = node['x-kubernetes-list-type'];
    return listType === 'map' ? 'keyed' : listType === 'set' ? 'set' : 'atomic';
  }
  return node['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular';
}

function constraintsOf(node: Json, schema: Schema): Constraints {
  const rules = listAt(node, 'x-kubernetes-validations').flatMap((rule) => compileRule(rule, schema));
  const inner = [...schema.properties.values(), schema.items, schema.values];
  return {
    keywords: node,
    isNullable: node['nullable'] === true,
    rules,
    hasRules: rules.length > 0 || inner.some((part) => part?.constraints?.hasRules === true),
  };
}

const reasons = {
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
} as const;

/** A rule that was checked when its definition was accepted. */
function compileRule(node: unknown, schema: Schema): ValidationRule[] {
  const rule = stringAt(node, 'rule') ?? '';
  const takesOptionalOldSelf = isRecord(node) && node['optionalOldSelf'] === true;
  const variables = ruleVariables(schema, takesOptionalOldSelf);
  const compiled = compileExpression(rule, variables);
  if (!compiled.ok) {
    return [];
  }
  const message = stringAt(node, 'message');
  const reason = stringAt(node, 'reason') ?? '';
  const messageOf = compileMessage(stringAt(node, 'messageExpression'), variables);
  return [
    {
      rule: rule.trim(),
      ...(message === undefined ? {} : { message }),
      reason: reason in reasons ? reasons[reason as keyof typeof reasons] : 'Invalid',
      fieldPath: stringAt(node, 'fieldPath') ?? '',
      isTransition: /\boldSelf\b/.test(rule),
      takesOptionalOldSelf,
      holds: compiled.evaluate,
      ...(messageOf === undefined ? {} : { messageOf }),
    },
  ];
}

function compileMessage(expression: string | undefined, variables: Variables): Expression | undefined {
  const compiled = expression === undefined ? undefined : compileExpression(expression, variables);
  return compiled?.ok === true ? compiled.evaluate : undefined;
}

/** What a rule at this place may use; the root's metadata shows rules only its names. */
export function ruleVariables(schema: Schema, takesOptionalOldSelf: boolean): Variables {
  const self = schema.properties.has('metadata') ? withNamesOnly(schema) : schema;
  return { self, oldSelf: takesOptionalOldSelf ? 'optional' : self };
}

function withNamesOnly(schema: Schema): Schema {
  const metadata = schema.properties.get('metadata');
  if (metadata?.definition === undefined) {
    return schema;
  }
  const names = new Map([...metadata.properties].filter(([name]) => name === 'name' || name === 'generateName'));
  return { ...schema, properties: new Map([...schema.properties, ['metadata', { ...metadata, properties: names }]]) };
}
