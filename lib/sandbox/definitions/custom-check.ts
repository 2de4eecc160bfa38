import type { KubeObject } from '../../kube/model/wire.ts';
import { validateRules } from './custom-rules.ts';
import { type Spot, validateSchema } from './custom-validate.ts';
import type { Schema } from '../schema/schema.ts';
import type { Cause } from '../model/status.ts';
import { at } from '../schema/value.ts';

const blocking = new Set(
  ['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid'].map((name) => `FieldValue${name}`),
);
const unchecked: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

interface CustomCheck {
  readonly object: KubeObject;
  readonly old?: KubeObject;
  readonly subresource?: string;
}

/** What is wrong with a custom object: by its schema, and if that lets rules be evaluated, by its rules. */
export function checkCustom(check: CustomCheck, schema: Schema): readonly Cause[] {
  const { value, part, spot } = judged(check, schema);
  if (value === undefined) {
    return [];
  }
  const problems = validateSchema(value, part, spot);
  if (schema.constraints?.hasRules !== true) {
    return problems;
  }
  return problems.some(({ reason }) => blocking.has(reason))
    ? [...problems, unchecked]
    : [...problems, ...validateRules(value, part, spot)];
}

/** A write to the status is judged by the status alone. */
function judged(
  { object, old, subresource }: CustomCheck,
  schema: Schema,
): { value: unknown; part: Schema; spot: Spot } {
  const status = schema.properties.get('status');
  return subresource === 'status' && status !== undefined
    ? { value: at(object, 'status'), part: status, spot: { path: 'status', name: '', old: at(old, 'status') } }
    : { value: object, part: schema, spot: { path: '', name: '', old } };
}
