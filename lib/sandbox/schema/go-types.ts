import { itemSchema, freeform, type Schema } from './schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList } from './value.ts';

/** A value that does not fit the Go type behind a field; the message is the one of Go's JSON decoder. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

const quantity = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** What Go's decoder says about a scalar, or nothing when it takes it. */
export function scalarComplaint(value: unknown, schema: Schema): { mismatch: string } | { text: string } | undefined {
  const { format = '' } = schema;
  switch (format) {
    case 'int-or-string':
      return typeof value === 'string' ? undefined : integerMismatch(value, 'int32');
    case 'quantity':
      return quantityComplaint(value);
    case 'date-time':
      return typeof value === 'string' ? timeComplaint(value) : mismatch(value, 'string');
    case 'byte':
      return typeof value === 'string' ? base64Complaint(value) : mismatch(value, '[]uint8');
    default:
      return plainComplaint(value, schema);
  }
}

function plainComplaint(value: unknown, schema: Schema): { mismatch: string } | undefined {
  if (schema.type === 'integer') {
    return integerMismatch(value, schema.format === 'int64' ? 'int64' : 'int32');
  }
  const fits = typeof value === schema.type;
  return fits ? undefined : mismatch(value, typeName(schema));
}

function integerMismatch(value: unknown, type: 'int32' | 'int64'): { mismatch: string } | undefined {
  if (typeof value !== 'number') {
    return mismatch(value, type);
  }
  const isInRange = type === 'int64' || (value >= int32.min && value <= int32.max);
  return Number.isInteger(value) && isInRange
    ? undefined
    : { mismatch: `cannot unmarshal number ${String(value)} into ${place} of type ${type}` };
}

/** Stands for the place in a mismatch until it is known. */
export const place = '\0';

export function mismatch(value: unknown, type: string): { mismatch: string } {
  return { mismatch: `cannot unmarshal ${jsonType(value)} into ${place} of type ${type}` };
}

function quantityComplaint(value: unknown): { text: string } | undefined {
  const isNumber = typeof value === 'number';
  return isNumber || (typeof value === 'string' && quantity.test(value))
    ? undefined
    : { text: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" };
}

function timeComplaint(value: string): { text: string } | undefined {
  const layout = '2006-01-02T15:04:05Z07:00';
  return time.test(value) && !Number.isNaN(Date.parse(value))
    ? undefined
    : { text: `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"` };
}

function base64Complaint(value: string): { text: string } | undefined {
  const bare = value.replaceAll(/[\r\n]/g, '');
  if (base64.test(bare)) {
    return undefined;
  }
  const bad = bare.search(/[^A-Za-z0-9+/]/);
  return { text: `illegal base64 data at input byte ${bad === -1 ? bare.length - (bare.length % 4) : bad}` };
}

/** The Go type of a place as its decoder prints it: `[]v1.Container`, `map[string]string`. */
export function typeName(schema: Schema): string {
  if (schema.definition !== undefined) {
    return schema.definition.split('.').slice(-2).join('.');
  }
  switch (schema.shape) {
    case 'list':
      return `[]${typeName(itemSchema(schema))}`;
    case 'map':
      return `map[string]${typeName(schema.values ?? freeform)}`;
    case 'scalar':
      return schema.type === 'boolean' ? 'bool' : schema.type === 'number' ? 'float64' : (schema.type ?? 'string');
    case 'struct':
    case 'any':
      return 'map[string]interface {}';
  }
}

/** The last part of a definition's name: `DeploymentSpec`. */
export function structName(schema: Schema): string {
  return schema.definition?.split('.').at(-1) ?? '';
}

function jsonType(value: unknown): string {
  if (isList(value)) {
    return 'array';
  }
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A value as Go's `%v` prints it: how refusals show a strategic merge patch. */
export function printGo(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(printGo).join(' ')}]`;
  }
  if (isRecord(value)) {
    const names = Object.keys(value).sort();
    return `map[${names.map((name) => `${name}:${printGo(value[name])}`).join(' ')}]`;
  }
  return typeof value === 'string' ? value : value === null ? '<nil>' : JSON.stringify(value);
}
