import { storedQuantity } from '../../kube/model/quantity.ts';
import { canonicalTime } from './canonical-time.ts';
import { fieldSchema, itemSchema, type Schema } from './schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from './value.ts';

/**
 * A built-in object as it looks after the API server has read and written it:
 * without undeclared fields, nulls, empty lists and empty maps, times in UTC, quantities in their shortest
 * form. What is already so comes back as the same object.
 */
export function normalize<T>(value: T, schema: Schema): T;
export function normalize(value: unknown, schema: Schema): unknown {
  if (schema.shape === 'any') {
    return value;
  }
  if (isList(value)) {
    return normalizeItems(value, itemSchema(schema));
  }
  if (typeof value === 'string' && schema.format === 'date-time') {
    return canonicalTime(value, schema.definition);
  }
  if (schema.format === 'quantity' && (typeof value === 'string' || typeof value === 'number')) {
    return storedQuantity(value);
  }
  return isRecord(value) ? normalizeFields(value, schema) : value;
}

function normalizeItems(items: readonly unknown[], schema: Schema): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const normal = normalize(item, schema);
    if (normal !== item) {
      changed ??= [...items];
      changed[index] = normal;
    }
  }
  return changed ?? items;
}

function normalizeFields(object: Json, schema: Schema): Json {
  let changed: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(object)) {
    const inner = fieldSchema(schema, name);
    const isDeclared = schema.shape !== 'struct' || schema.properties.has(name);
    const normal = isDeclared ? normalize(value, inner) : undefined;
    if (!isDeclared || isNothing(normal, inner)) {
      changed ??= { ...object };
      Reflect.deleteProperty(changed, name);
    } else if (normal !== value) {
      changed ??= { ...object };
      changed[name] = normal;
    }
  }
  return changed ?? object;
}

function isNothing(value: unknown, schema: Schema): boolean {
  if (isList(value)) {
    return value.length === 0 && schema.shape === 'list';
  }
  return value === null || (isRecord(value) && schema.shape === 'map' && Object.keys(value).length === 0);
}
