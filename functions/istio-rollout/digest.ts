import { createHash } from 'node:crypto';

/** Equal for equal values, whatever the order of their keys. */
export function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

/** JSON with sorted keys; absent and undefined fields are the same. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (isRecord(each) ? sorted(each) : each));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
