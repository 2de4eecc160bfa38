import { printPath } from './field-set.ts';
import { itemStep } from './item-step.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

/** What keeps an applied object from being merged, in the words of the API server. */
export function typeProblems(value: unknown, schema: Schema): readonly string[] {
  return check(value, schema, []);
}

function check(value: unknown, schema: Schema, path: readonly string[]): readonly string[] {
  // Scalars are looked at when the outcome is read like a body.
  if (value === null || schema.shape === 'any' || schema.shape === 'scalar') {
    return [];
  }
  if (schema.shape === 'list') {
    return isList(value)
      ? checkItems(value, schema, path)
      : [`${printPath(path)}: expected list, got ${JSON.stringify(value)}`];
  }
  return isRecord(value)
    ? checkFields(value, schema, path)
    : [`${printPath(path)}: expected map, got ${JSON.stringify(value)}`];
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
