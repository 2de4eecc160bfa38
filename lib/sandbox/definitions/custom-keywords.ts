import { compilePattern } from '../schema/pattern.ts';
import type { Spot } from './custom-validate.ts';
import { itemStep } from '../patch/item-step.ts';
import type { Schema } from '../schema/schema.ts';
import type { Cause } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList, type Json, listAt } from '../schema/value.ts';

/** What the keywords beside `type` say about a value of the right type. */
export function checkKeywords(value: unknown, schema: Schema, spot: Spot): readonly Cause[] {
  const keywords = schema.constraints?.keywords ?? {};
  return [
    ...checkEnum(value, keywords, spot),
    ...(typeof value === 'string' ? checkText(value, keywords, spot) : []),
    ...(typeof value === 'number' ? checkNumber(value, keywords, spot) : []),
    ...(isList(value) ? checkList(value, schema, spot) : []),
    ...(isRecord(value) ? checkSize(Object.keys(value).length, keywords, { ...spot, what: 'Properties' }) : []),
    ...checkCombinations(value, keywords, spot),
  ];
}

function checkEnum(value: unknown, keywords: Json, { path }: Spot): readonly Cause[] {
  const allowed = listAt(keywords, 'enum');
  if (allowed.length === 0 || allowed.some((one) => isEqual(one, value))) {
    return [];
  }
  const shown = allowed.map((one) => JSON.stringify(one)).join(', ');
  return [cause('NotSupported', path, `Unsupported value: ${JSON.stringify(value)}: supported values: ${shown}`)];
}

function checkText(value: string, keywords: Json, { path, name }: Spot): readonly Cause[] {
  const { format } = keywords;
  const shown = `Invalid value: ${JSON.stringify(value)}: ${name} in body`;
  const wrongFormat = `${shown} must be of type ${String(format)}: ${JSON.stringify(value)}`;
  return [
    ...checkLength(value, keywords, { path, shown }).slice(0, 1),
    ...(isFormatted(value, format) ? [] : [cause('TypeInvalid', path, wrongFormat)]),
  ];
}

function checkLength(
  value: string,
  { minLength = 0, maxLength = Infinity, pattern }: Json,
  { path, shown }: { path: string; shown: string },
): readonly Cause[] {
  const length = Array.from(value).length;
  const tooLong = `Too long: may not be more than ${String(maxLength)} bytes`;
  return [
    ...(length > Number(maxLength) ? [cause('TooLong', path, tooLong)] : []),
    ...(length < Number(minLength)
      ? [cause('Invalid', path, `${shown} should be at least ${String(minLength)} chars long`)]
      : []),
    ...(typeof pattern === 'string' && !compilePattern(pattern).test(value)
      ? [cause('Invalid', path, `${shown} should match '${pattern}'`)]
      : []),
  ];
}

const formats: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  duration: /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$|^0$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  uuid: /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i,
  email: /^[^\s@]+@[^\s@]+$/,
};

function isFormatted(value: string, format: unknown): boolean {
  return formats[String(format)]?.test(value) ?? true;
}

function checkNumber(value: number, keywords: Json, { path, name }: Spot): readonly Cause[] {
  const { multipleOf } = keywords;
  const problems = [...belowMinimum(value, keywords), ...aboveMaximum(value, keywords)];
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf)) {
    problems.push(`a multiple of ${multipleOf}`);
  }
  return problems.map((problem) =>
    cause('Invalid', path, `Invalid value: ${value}: ${name} in body should be ${problem}`),
  );
}

function belowMinimum(value: number, { minimum = -Infinity, exclusiveMinimum }: Json): string[] {
  const isExclusive = exclusiveMinimum === true;
  const isBelow = value < Number(minimum) || (isExclusive && value === minimum);
  return isBelow ? [`greater than ${isExclusive ? '' : 'or equal to '}${String(minimum)}`] : [];
}

function aboveMaximum(value: number, { maximum = Infinity, exclusiveMaximum }: Json): string[] {
  const isExclusive = exclusiveMaximum === true;
  const isAbove = value > Number(maximum) || (isExclusive && value === maximum);
  return isAbove ? [`less than ${isExclusive ? '' : 'or equal to '}${String(maximum)}`] : [];
}

function checkList(items: readonly unknown[], schema: Schema, spot: Spot): readonly Cause[] {
  const keywords = schema.constraints?.keywords ?? {};
  const size = checkSize(items.length, keywords, { ...spot, what: 'Items' });
  return schema.sharing === 'atomic' ? size : [...size, ...checkUnique(items, schema, spot)];
}

function checkUnique(items: readonly unknown[], schema: Schema, { path }: Spot): readonly Cause[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const result = itemStep(schema, item);
    const step = 'step' in result ? result.step : `#${index}`;
    const isRepeated = seen.has(step);
    seen.add(step);
    return isRepeated ? [cause('Duplicate', `${path}[${index}]`, `Duplicate value: ${step.slice(2)}`)] : [];
  });
}

function checkSize(
  size: number,
  keywords: Json,
  { path, name, what }: Spot & { what: 'Items' | 'Properties' },
): readonly Cause[] {
  const { [`max${what}`]: most = Infinity, [`min${what}`]: least = 0 } = keywords;
  if (size > Number(most)) {
    return [cause('TooMany', path, `Too many: ${size}: must have at most ${String(most)} items`)];
  }
  const message = `Invalid value: ${size}: ${name} in body should have at least ${String(least)} ${what.toLowerCase()}`;
  return size < Number(least) ? [cause('Invalid', path, message)] : [];
}

/** `allOf`, `anyOf`, `oneOf` and `not` only refine values, so what they say is checked without types. */
function checkCombinations(value: unknown, keywords: Json, spot: Spot): readonly Cause[] {
  const all = listAt(keywords, 'allOf');
  const any = listAt(keywords, 'anyOf');
  const one = listAt(keywords, 'oneOf').filter((part) => fits(value, part)).length;
  const { not } = keywords;
  const quoted = `Invalid value: "": "${spot.name}"`;
  const exactly = `${quoted} must validate one and only one schema (oneOf). Found ${one === 0 ? 'none valid' : `${one} valid alternatives`}`;
  return [
    ...(all.every((part) => fits(value, part))
      ? []
      : [cause('Invalid', '<nil>', `${quoted} must validate all the schemas (allOf)`)]),
    ...(any.length === 0 || any.some((part) => fits(value, part))
      ? []
      : [cause('Invalid', '<nil>', `${quoted} must validate at least one schema (anyOf)`)]),
    ...(listAt(keywords, 'oneOf').length === 0 || one === 1 ? [] : [cause('Invalid', '<nil>', exactly)]),
    ...(isRecord(not) && fits(value, not)
      ? [cause('Invalid', '<nil>', `${quoted} must not validate the schema (not)`)]
      : []),
  ];
}

function fits(value: unknown, part: unknown): boolean {
  if (!isRecord(part)) {
    return true;
  }
  const spot = { path: '', name: '', old: undefined };
  const { type } = part;
  const actual = typeOf(value);
  const isTyped = type === undefined || type === actual || (type === 'number' && actual === 'integer');
  return isTyped && fitsKeywords(value, part, spot) && fitsInner(value, part);
}

function fitsKeywords(value: unknown, part: Json, spot: Spot): boolean {
  const problems = [
    ...checkEnum(value, part, spot),
    ...(typeof value === 'string' ? checkText(value, part, spot) : []),
    ...(typeof value === 'number' ? checkNumber(value, part, spot) : []),
    ...checkCombinations(value, part, spot),
  ];
  return problems.length === 0;
}

function fitsInner(value: unknown, part: Json): boolean {
  if (isList(value)) {
    return value.every((item) => fits(item, part['items']));
  }
  if (!isRecord(value)) {
    return true;
  }
  const properties = isRecord(part['properties']) ? part['properties'] : {};
  return (
    listAt(part, 'required').every((name) => value[String(name)] !== undefined) &&
    Object.entries(value).every(([name, inner]) => fits(inner, properties[name]))
  );
}

export function typeOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (isList(value)) {
    return 'array';
  }
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

export function cause(reason: string, field: string, message: string): Cause {
  return { reason: `FieldValue${reason}`, message, field };
}
