import { type Fields, isRecord } from '../../base/json.ts';

/** A JSON object as it comes from a body or the store. */
export type Json = Fields;

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Equality of JSON values; the order of an object's fields does not count. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  return isRecord(a) && isRecord(b) && haveEqualFields(a, b);
}

function haveEqualFields(a: Json, b: Json): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => name in b && isEqual(a[name], b[name]));
}

/** The value at a path of field names, if every step of it is there. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isRecord(found)) {
      return undefined;
    }
    found = found[name];
  }
  return found;
}

export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The list at a path, or an empty one. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return isList(found) ? found : [];
}

/** The object at a path, or an empty one. */
export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const found = at(value, ...path);
  return isRecord(found) ? found : {};
}
