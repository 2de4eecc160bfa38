import { cause, checkKeywords, typeOf } from './custom-keywords.ts';
import { itemStep } from '../patch/item-step.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import type { Cause } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList } from '../schema/value.ts';

/** Where the check stands. */
export interface Spot {
  /** As causes name it: `spec.items[0].id`. */
  readonly path: string;
  /** As messages name it: the same, except that a status is checked from itself on. */
  readonly name: string;
  /** The value stored before, if it can be identified: what did not change is not checked again. */
  readonly old: unknown;
}

/** What is wrong with a custom object by its schema, in the API server's words. */
export function validateSchema(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  if (schema.constraints === undefined || (spot.old !== undefined && isEqual(value, spot.old))) {
    return [];
  }
  if (value === null && schema.constraints.isNullable) {
    return [];
  }
  return [...checkType(value, schema, spot), ...checkInner(value, schema, spot)];
}

export function below(spot: Spot, field: string): Spot {
  const old = isRecord(spot.old) ? spot.old[field] : undefined;
  return { path: joined(spot.path, field), name: joined(spot.name, field), old };
}

function joined(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

export function itemSpot(spot: Spot, list: Schema, item: unknown, index: number): Spot {
  return { path: `${spot.path}[${index}]`, name: `${spot.name}[${index}]`, old: oldItem(spot.old, list, item) };
}

/** Only the items of keyed lists can be matched with their earlier state. */
function oldItem(old: unknown, list: Schema, item: unknown): unknown {
  const step = list.sharing === 'keyed' ? itemStep(list, item) : undefined;
  if (step === undefined || !('step' in step) || !isList(old)) {
    return undefined;
  }
  return old.find((other) => {
    const otherStep = itemStep(list, other);
    return 'step' in otherStep && otherStep.step === step.step;
  });
}

function checkType(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  const expected = expectedType(schema);
  const actual = typeOf(value);
  if (
    expected === undefined ||
    expected.split(',').includes(actual) ||
    (expected === 'number' && actual === 'integer')
  ) {
    return checkKeywords(value, schema, spot);
  }
  const message = `Invalid value: "${actual}": ${spot.name} in body must be of type ${expected}: "${actual}"`;
  const wrongType = cause('TypeInvalid', spot.path, message);
  return expected === 'integer' && actual === 'number'
    ? [
        wrongType,
        cause(
          'Invalid',
          '<nil>',
          `Invalid value: "": Checked value must be of type integer (default format) in ${spot.name}`,
        ),
      ]
    : [wrongType];
}

function expectedType({ constraints, type }: Schema): string | undefined {
  return constraints?.keywords['x-kubernetes-int-or-string'] === true ? 'integer,string' : type;
}

function checkInner(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  if (isList(value) && schema.shape === 'list') {
    return value.flatMap((item, index) =>
      validateSchema(item, itemSchema(schema), itemSpot(spot, schema, item, index)),
    );
  }
  if (!isRecord(value)) {
    return [];
  }
  const missing = schema.required.filter((name) => value[name] === undefined);
  return [
    ...missing.map((name) => cause('Required', joined(spot.path, name), 'Required value')),
    ...Object.entries(value).flatMap(([name, inner]) =>
      validateSchema(inner, fieldSchema(schema, name), below(spot, name)),
    ),
  ];
}
