import { complete } from './custom-complete.ts';
import { validateSchema } from './custom-validate.ts';
import { itemSchema, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList } from '../schema/value.ts';
import type { Report } from '../checks/report.ts';

/** Checks that defaults fit the schema that declares them. */
export function checkDefaults(report: Report, schema: Schema, path: string): void {
  if (schema.definition !== undefined) {
    return;
  }
  if (schema.default !== undefined) {
    checkDefault(report, schema, `${path}.default`);
  }
  for (const [name, property] of schema.properties) {
    checkDefaults(report, property, `${path}.properties[${name}]`);
  }
  if (schema.shape === 'list') {
    checkDefaults(report, itemSchema(schema), `${path}.items`);
  }
  if (schema.values !== undefined) {
    checkDefaults(report, schema.values, `${path}.additionalProperties`);
  }
}

function checkDefault(report: Report, schema: Schema, path: string): void {
  const problems = validateSchema(schema.default, schema, { path, name: '', old: undefined });
  for (const problem of problems) {
    report.add({ ...problem, field: path });
  }
  if (problems.length === 0 && !keepsAll(schema.default, complete(schema.default, schema))) {
    report.invalid(path, schema.default, 'must not have unknown fields');
  }
}

/** Completing may add fields, but must not take any away. */
function keepsAll(value: unknown, completed: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return isEqual(value, completed);
  }
  const kept = new Map<string, unknown>(Object.entries(isRecord(completed) || isList(completed) ? completed : {}));
  return Object.entries(value).every(([name, inner]) => kept.has(name) && keepsAll(inner, kept.get(name)));
}
