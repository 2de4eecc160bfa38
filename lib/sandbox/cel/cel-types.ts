import type { Environment } from '@marcbachmann/cel-js';
import { freeform, type Schema } from '../schema/schema.ts';
import type { JsonType } from '../schema/tables.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

const timestamp = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';
const reserved = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

/** How a rule spells a field's name, or nothing when it cannot name the field. */
export function celName(name: string): string | undefined {
  if (reserved.has(name)) {
    return `__${name}__`;
  }
  const escaped = name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}

/** Declares the types of a schema; answers the name of its type. Free JSON has no fields that a rule could use. */
export function declareType(environment: Environment, schema: Schema, name: string): string {
  switch (schema.shape) {
    case 'scalar':
      return scalarType(schema);
    case 'list':
      return `list<${schema.items === undefined ? 'dyn' : declareType(environment, schema.items, `${name}_item`)}>`;
    case 'map':
      return `map<string, ${schema.values === undefined ? 'dyn' : declareType(environment, schema.values, `${name}_value`)}>`;
    case 'struct':
    case 'any':
      return declareStruct(environment, schema, name);
  }
}

function declareStruct(environment: Environment, schema: Schema, name: string): string {
  const fields: Record<string, string> = {};
  for (const [field, inner] of schema.properties) {
    const spelled = celName(field);
    if (spelled !== undefined) {
      fields[spelled] = declareType(environment, inner, `${name}_${spelled}`);
    }
  }
  environment.registerType(name, { fields });
  environment.registerOperator(`${name} == ${name}`, () => true);
  return name;
}

const scalarTypes: Readonly<Partial<Record<JsonType, string>>> = { integer: 'int', number: 'double', boolean: 'bool' };

function scalarType({ type, format }: Schema): string {
  if (type === undefined) {
    return 'dyn';
  }
  return type === 'string' ? stringType(format) : (scalarTypes[type] ?? 'dyn');
}

function stringType(format: string | undefined): string {
  if (format === 'date-time' || format === 'date') {
    return timestamp;
  }
  if (format === 'duration') {
    return duration;
  }
  return format === 'byte' ? 'bytes' : 'string';
}

/** A JSON value as rules see it: whole numbers are integers, formatted texts are times. */
export function celValue(value: unknown, schema: Schema): unknown {
  if (isList(value)) {
    // A list of this realm, even if another one parsed the value: the evaluator checks types by their constructor.
    return Array.from(value, (item) => celValue(item, schema.items ?? freeform));
  }
  if (isRecord(value)) {
    return celObject(value, schema);
  }
  return celScalar(value, schema);
}

function celObject(object: Json, schema: Schema): Json {
  const isMap = schema.shape === 'map' || schema.shape === 'any';
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    const inner = schema.properties.get(name) ?? schema.values ?? freeform;
    const spelled = isMap ? name : celName(name);
    if (spelled !== undefined && value !== null) {
      fields[spelled] = celValue(value, inner);
    }
  }
  return fields;
}

function celScalar(value: unknown, schema: Schema): unknown {
  if (typeof value === 'number') {
    return Number.isInteger(value) && schema.type !== 'number' ? BigInt(value) : value;
  }
  if (typeof value !== 'string' || schema.type !== 'string') {
    return value;
  }
  const isTime = stringType(schema.format) === timestamp;
  return isTime ? new Date(value) : schema.format === 'byte' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
