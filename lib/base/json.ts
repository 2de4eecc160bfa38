import { by } from './order.ts';

/** A JSON object whose fields have not been checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not null, not a list. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a JSON object. */
export function recordOf(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined;
}

/** The parsed text, or `undefined` if it is not JSON. */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (isRecord(each) ? sorted(each) : each));
}

function sorted(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).sort(by(([key]) => key)));
}
