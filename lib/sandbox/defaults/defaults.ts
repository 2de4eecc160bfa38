import { defaultRules } from './default-rules.ts';
import { defaultValues } from './default-values.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

/** A built-in object with the values that the API server fills in. What needs none comes back as the same object. */
export function withDefaults<T>(value: T, schema: Schema): T;
export function withDefaults(value: unknown, schema: Schema): unknown {
  if (schema.shape === 'scalar' || schema.shape === 'any') {
    return value;
  }
  if (isList(value)) {
    return eachItem(value, itemSchema(schema));
  }
  return isRecord(value) ? eachField(ofDefinition(value, schema.definition), schema) : value;
}

const prefixes = /^io\.k8s\.(api|apiextensions-apiserver\.pkg\.apis)\./;

function ofDefinition(object: Json, definition = ''): Json {
  const name = definition.replace(prefixes, '');
  const values = defaultValues[name];
  const rule = defaultRules[name];
  const filled = values === undefined ? object : fill(object, values);
  return rule === undefined ? filled : replace(filled, rule(filled));
}

function fill(object: Json, values: Json): Json {
  let filled: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(values)) {
    if (object[name] === undefined) {
      filled ??= { ...object };
      filled[name] = value;
    }
  }
  return filled ?? object;
}

/** A rule takes a field away by answering `undefined` for it. */
function replace(object: Json, fields: Json): Json {
  const names = Object.keys(fields);
  if (names.length === 0) {
    return object;
  }
  const removed = new Set(names.filter((name) => fields[name] === undefined));
  return Object.fromEntries(Object.entries({ ...object, ...fields }).filter(([name]) => !removed.has(name)));
}

function eachItem(items: readonly unknown[], schema: Schema): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const filled = withDefaults(item, schema);
    if (filled !== item) {
      changed ??= [...items];
      changed[index] = filled;
    }
  }
  return changed ?? items;
}

function eachField(object: Json, schema: Schema): Json {
  let changed: Record<string, unknown> | undefined;
  for (const name in object) {
    const value = object[name];
    const filled = withDefaults(value, fieldSchema(schema, name));
    if (filled !== value) {
      changed ??= { ...object };
      changed[name] = filled;
    }
  }
  return changed ?? object;
}
