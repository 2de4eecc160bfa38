import { isRecord, type Fields } from '../../lib/base/json.ts';
import { sameQuantity } from '../../lib/kube/model/quantity.ts';

/** The keys that lead to a value, the last one first. */
interface Path {
  readonly key: string;
  readonly under?: Path | undefined;
}

/**
 * Whether two parts of an object mean the same to the API server: absent, null, {} and [] are equal, the order of keys
 * is nothing, and resource quantities are compared by amount.
 */
export function isSame(a: unknown, b: unknown, path?: Path): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) {
    return true;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index], path));
  }
  return isRecord(a) && isRecord(b) ? haveSame(a, b, path) : isSameAmount(a, b, path);
}

function haveSame(a: Fields, b: Fields, under: Path | undefined): boolean {
  const onlyOfB = Object.keys(b).filter((key) => !Object.hasOwn(a, key));
  return (
    onlyOfB.every((key) => isEmpty(b[key])) &&
    Object.keys(a).every((key) => isSame(a[key], Object.hasOwn(b, key) ? b[key] : undefined, { key, under }))
  );
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function isAmount(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

const quantity = /^resources (requests|limits) |^spec overhead | emptyDir sizeLimit$| resourceFieldRef divisor$/;

/** Only where the API has quantities: an environment variable that goes from 1 to 1000m has changed. */
function isSameAmount(a: unknown, b: unknown, path: Path | undefined): boolean {
  const lastThree = [path?.under?.under?.key, path?.under?.key, path?.key].join(' ');
  return isAmount(a) && isAmount(b) && quantity.test(lastThree) && sameQuantity(a, b);
}
