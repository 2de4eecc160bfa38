import { printPath } from './field-set.ts';
import { itemStep } from './item-step.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { isList, isObject, type Json } from '../schema/value.ts';

/** What keeps an applied object from being merged, in the words of the API server. */
export function typeProblems(value: unknown, schema: Schema): readonly string[] {
  return check(value, schema, []);
}

function check(value: unknown, schema: Schema, path: readonly string[]): readonly string[] {
  if (value === null || schema.shape === 'any') {
    return [];
  }
  if (schema.shape === 'scalar') {
    const problem = scalarProblem(value, schema);
    return problem === undefined ? [] : [`${printPath(path)}: ${problem}`];
  }
  if (schema.shape === 'list') {
    return isList(value) ? checkItems(value, schema, path) : [`${printPath(path)}: expected list, got ${print(value)}`];
  }
  return isObject(value) ? checkFields(value, schema, path) : [`${printPath(path)}: expected map, got ${print(value)}`];
}

function checkFields(object: Json, schema: Schema, path: readonly string[]): readonly string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    const inner = [...path, `f:${name}`];
    if (schema.shape === 'struct' && !schema.properties.has(name) && !schema.keepsUnknown) {
      return [...problems, `${printPath(inner)}: field not declared in schema`];
    }
    problems.push(...check(value, fieldSchema(schema, name), inner));
  }
  return problems;
}

function checkItems(items: readonly unknown[], schema: Schema, path: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const [index, item] of items.entries()) {
    const result = schema.sharing === 'atomic' ? { step: `i:${index}` } : itemStep(schema, item);
    if ('problem' in result) {
      return [...problems, `${printPath(path)}: element ${index}: ${result.problem}`];
    }
    if (seen.has(result.step)) {
      problems.push(`${printPath(path)}: duplicate entries for key ${printPath([result.step])}`);
    }
    seen.add(result.step);
    problems.push(...check(item, itemSchema(schema), [...path, result.step]));
  }
  return problems;
}

function scalarProblem(value: unknown, { type }: Schema): string | undefined {
  if (type === 'integer' || type === 'number') {
    return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
  }
  if (type === 'boolean') {
    return typeof value === 'boolean' ? undefined : `expected boolean, got ${print(value)}`;
  }
  if (type === 'string') {
    const got = `&value.valueUnstructured{Value:${goValue(value)}}`;
    return typeof value === 'string' ? undefined : `expected string, got ${got}`;
  }
  return typeof value === 'object' ? `expected any scalar, got ${print(value)}` : undefined;
}

function goType(value: unknown): string {
  if (isList(value)) {
    return '[]interface {}';
  }
  return isObject(value) ? 'map[string]interface {}' : goScalarType(value);
}

function goScalarType(value: unknown): string {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? 'int64' : 'float64';
  }
  return typeof value === 'boolean' ? 'bool' : 'string';
}

function goValue(value: unknown): string {
  if (isList(value)) {
    return `[]interface {}{${value.map(goValue).join(', ')}}`;
  }
  if (isObject(value)) {
    const fields = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${goValue(inner)}`);
    return `map[string]interface {}{${fields.join(', ')}}`;
  }
  return JSON.stringify(value);
}

function print(value: unknown): string {
  return JSON.stringify(value);
}
