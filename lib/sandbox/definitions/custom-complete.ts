import type { KubeObject } from '../../kube/model/wire.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { normalize } from '../schema/normalize.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

/** A custom object as it is stored: without undeclared fields, with defaults. */
export function completeCustom(object: KubeObject, schema: Schema): KubeObject {
  return complete(object, schema) as KubeObject;
}

/** The same for any value of a custom kind's schema. */
export function complete(value: unknown, schema: Schema): unknown {
  if (schema.definition !== undefined) {
    return normalize(value, schema);
  }
  if (isList(value)) {
    return schema.shape === 'list' ? value.map((item) => complete(item, itemSchema(schema))) : value;
  }
  return isRecord(value) && hasFields(schema) ? completeFields(value, schema) : value;
}

function hasFields({ shape, properties }: Schema): boolean {
  return shape === 'struct' || shape === 'map' || properties.size > 0;
}

function completeFields(object: Json, schema: Schema): Json {
  const completed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    const inner = fieldSchema(schema, name);
    if (keeps(schema, name) && !(value === null && dropsNull(inner))) {
      completed[name] = complete(value, inner);
    }
  }
  addDefaults(completed, schema);
  return completed;
}

function keeps({ shape, keepsUnknown, properties }: Schema, name: string): boolean {
  return shape === 'map' || keepsUnknown || properties.has(name);
}

function addDefaults(fields: Record<string, unknown>, { properties }: Schema): void {
  for (const [name, property] of properties) {
    if (fields[name] === undefined && property.default !== undefined && property.definition === undefined) {
      fields[name] = complete(structuredClone(property.default), property);
    }
  }
}

/** A null that the schema does not allow counts as absent. */
function dropsNull({ constraints, definition }: Schema): boolean {
  return definition !== undefined || constraints?.isNullable === false;
}
