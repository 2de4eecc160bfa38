import { isRecord } from '../../../lib/base/json.ts';
/** Fields that whoever stores an object writes. */
const stored = new Set(['managedFields', 'uid', 'resourceVersion', 'generation', 'creationTimestamp']);

/** Paths of values that were asked for and are not what came back. */
export function changes(asked: unknown, got: unknown, path = ''): string[] {
  if (Array.isArray(asked)) {
    return Array.isArray(got) && got.length === asked.length
      ? asked.flatMap((item, index) => changes(item, got[index], `${path}[${index}]`))
      : [path];
  }
  if (isRecord(asked)) {
    return isRecord(got)
      ? Object.entries(asked).flatMap(([key, value]) => changes(value, got[key], join(path, key)))
      : [path];
  }
  return asked === got ? [] : [path];
}

/** Paths of values that nobody asked for, each at the highest level that is new. */
export function additions(asked: unknown, got: unknown, path = ''): string[] {
  if (Array.isArray(asked) && Array.isArray(got)) {
    return got.flatMap((item, index) => additions(asked[index], item, `${path}[${index}]`));
  }
  if (isRecord(asked) && isRecord(got)) {
    return Object.entries(got)
      .filter(([key]) => path !== 'metadata' || !stored.has(key))
      .flatMap(([key, value]) =>
        Object.hasOwn(asked, key) ? additions(asked[key], value, join(path, key)) : [join(path, key)],
      );
  }
  return asked === undefined ? [path] : [];
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
