import type { Cause } from '../status.ts';

/** Collects what is wrong with an object, in the API server's words. */
export interface Report {
  readonly causes: readonly Cause[];
  required(field: string, detail?: string): void;
  invalid(field: string, value: unknown, detail: string): void;
  unsupported(field: string, value: unknown, supported: readonly string[]): void;
  forbidden(field: string, detail: string): void;
  duplicate(field: string, value: unknown): void;
  notFound(field: string, value: unknown): void;
  tooLong(field: string, bytes: number): void;
}

export function createReport(): Report {
  const causes: Cause[] = [];

  function add(reason: string, field: string, message: string): void {
    causes.push({ reason: `FieldValue${reason}`, message, field });
  }

  return {
    causes,
    required: (field, detail) =>
      add('Required', field, ['Required value', ...(detail === undefined ? [] : [detail])].join(': ')),
    invalid: (field, value, detail) => add('Invalid', field, `Invalid value: ${print(value)}: ${detail}`),
    unsupported: (field, value, supported) =>
      add(
        'NotSupported',
        field,
        `Unsupported value: ${print(value)}: supported values: ${supported.map(print).join(', ')}`,
      ),
    forbidden: (field, detail) => add('Forbidden', field, `Forbidden: ${detail}`),
    duplicate: (field, value) => add('Duplicate', field, `Duplicate value: ${print(value)}`),
    notFound: (field, value) => add('NotFound', field, `Not found: ${print(value)}`),
    tooLong: (field, bytes) => add('TooLong', field, `Too long: may not be more than ${bytes} bytes`),
  };
}

function print(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}
