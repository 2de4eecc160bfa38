import type { PolicyKind } from '../policy.ts';
import { isRecord } from '../../../lib/base/json.ts';
import { specs } from './definitions.ts';
import type { Schema } from './schema.ts';

/**
 * Why a policy can't even be read, if so: types, required fields and allowed words. The API server checks that and more
 * where our kinds are installed; others of the same name may let anything in.
 */
export function malformation(kind: PolicyKind, policy: object): string | undefined {
  return shapeProblem(specs[kind], 'spec' in policy ? policy.spec : undefined, 'spec');
}

function shapeProblem(schema: Schema, value: unknown, path: string): string | undefined {
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? fieldProblem(schema, value, path) : `${path}: must be an object`;
    case 'array':
      return Array.isArray(value)
        ? first(value, (item, index) => shapeProblem(schema.items ?? schema, item, `${path}[${index}]`))
        : `${path}: must be a list`;
    case 'string':
      return textProblem(schema, value, path);
    case 'boolean':
    case 'integer':
      return typeof value === (schema.type === 'boolean' ? 'boolean' : 'number')
        ? undefined
        : `${path}: must be a ${schema.type}`;
  }
}

function fieldProblem(
  { properties = {}, required = [], additionalProperties }: Schema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): string | undefined {
  const missing = required.find((name) => value[name] === undefined || value[name] === null);
  if (missing !== undefined) {
    return `${path}.${missing}: is required`;
  }
  const given = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return first(given, ([name, field]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return schema === undefined ? undefined : shapeProblem(schema, field, `${path}.${name}`);
  });
}

function textProblem({ enum: words }: Schema, value: unknown, path: string): string | undefined {
  if (typeof value !== 'string') {
    return `${path}: must be text`;
  }
  return words === undefined || words.includes(value) ? undefined : `${path}: must be one of ${words.join(', ')}`;
}

function first<T>(items: readonly T[], problemOf: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
