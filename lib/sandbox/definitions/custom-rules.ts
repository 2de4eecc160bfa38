import { Optional } from '@marcbachmann/cel-js';
import { celValue } from '../cel/cel-types.ts';
import { typeOf } from './custom-keywords.ts';
import { below, itemSpot, type Spot } from './custom-validate.ts';
import { fieldSchema, itemSchema, type Schema, type ValidationRule } from '../schema/schema.ts';
import type { Cause } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList } from '../schema/value.ts';

/** What the CEL rules of a custom kind say about an object that fits its schema. */
export function validateRules(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  const { constraints } = schema;
  if (constraints?.hasRules !== true || value === undefined || value === null) {
    return [];
  }
  if (spot.old !== undefined && isEqual(value, spot.old)) {
    return [];
  }
  return [
    ...constraints.rules.flatMap((rule) => checkRule(rule, value, schema, spot)),
    ...innerRules(value, schema, spot),
  ];
}

function innerRules(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  if (isList(value)) {
    return value.flatMap((item, index) => validateRules(item, itemSchema(schema), itemSpot(spot, schema, item, index)));
  }
  if (!isRecord(value)) {
    return [];
  }
  return Object.entries(value).flatMap(([name, inner]) => {
    const entry = below(spot, name);
    const path = schema.shape === 'map' ? `${spot.path}[${name}]` : entry.path;
    return validateRules(inner, fieldSchema(schema, name), { ...entry, path });
  });
}

function checkRule(rule: ValidationRule, value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  if (rule.isTransition && spot.old === undefined && !rule.takesOptionalOldSelf) {
    return [];
  }
  const values = { self: celValue(value, schema), ...oldSelf(rule, schema, spot) };
  try {
    return rule.holds(values) === true ? [] : [complaint(rule, value, spot, messageOf(rule, values))];
  } catch (error) {
    const message = `Invalid value: "${typeOf(value)}": ${whyOf(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return [{ reason: 'FieldValueInvalid', message, field: spot.path }];
  }
}

/** The first line of what the evaluator says, in lower case as Go's errors are. */
function whyOf(error: unknown): string {
  const [line = ''] = error instanceof Error ? error.message.split('\n', 1) : [];
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function oldSelf(rule: ValidationRule, schema: Schema, { old }: Spot): Readonly<Record<string, unknown>> {
  const before = old === undefined ? undefined : celValue(old, schema);
  if (rule.takesOptionalOldSelf) {
    return { oldSelf: before === undefined ? Optional.none() : Optional.of(before) };
  }
  return { oldSelf: before };
}

/** A message that cannot be made counts as none. */
function messageOf(rule: ValidationRule, values: Readonly<Record<string, unknown>>): string {
  const fallback = rule.message ?? `failed rule: ${rule.rule}`;
  try {
    const message = rule.messageOf?.(values);
    const isUsable = typeof message === 'string' && message.trim() !== '' && !message.includes('\n');
    return isUsable ? message : fallback;
  } catch {
    return fallback;
  }
}

function complaint(rule: ValidationRule, value: unknown, { path }: Spot, message: string): Cause {
  const shown = isRecord(value) || isList(value) ? '' : `${JSON.stringify(value)}: `;
  const texts = {
    Invalid: `Invalid value: ${shown}${message}`,
    Forbidden: `Forbidden: ${message}`,
    Required: `Required value: ${message}`,
    Duplicate: `Duplicate value: ${JSON.stringify(value)}`,
  };
  return {
    reason: `FieldValue${rule.reason}`,
    message: texts[rule.reason],
    field: `${path}${rule.fieldPath}`.replace(/^\./, ''),
  };
}
