import type { Cause } from '../model/status.ts';

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
  add(cause: Cause): void;
}

export function createReport(): Report {
  const causes: Cause[] = [];

  function report(reason: string, field: string, message: string): void {
    causes.push({ reason: `FieldValue${reason}`, message, field });
  }

  return {
    causes,
    add: (cause) => causes.push(cause),
    required: (field, detail) =>
      report('Required', field, ['Required value', ...(detail === undefined ? [] : [detail])].join(': ')),
    invalid: (field, value, detail) => report('Invalid', field, `Invalid value: ${print(value)}: ${detail}`),
    unsupported: (field, value, supported) =>
      report(
        'NotSupported',
        field,
        `Unsupported value: ${print(value)}: supported values: ${supported.map(print).join(', ')}`,
      ),
    forbidden: (field, detail) => report('Forbidden', field, `Forbidden: ${detail}`),
    duplicate: (field, value) => report('Duplicate', field, `Duplicate value: ${print(value)}`),
    notFound: (field, value) => report('NotFound', field, `Not found: ${print(value)}`),
    tooLong: (field, bytes) => report('TooLong', field, `Too long: may not be more than ${bytes} bytes`),
  };
}

function print(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return value === undefined ? 'null' : JSON.stringify(value);
  }
  return JSON.stringify(value).replaceAll(/[<>&]/g, asGoWrites);
}

/** Go escapes what could end a script in a page. */
function asGoWrites(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
