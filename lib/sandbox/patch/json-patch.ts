import { isEqual } from '../schema/value.ts';

/** A JSON Patch (RFC 6902) does not fit its document. */
export class JsonPatchProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchProblem';
  }
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

type Container = unknown[] | Record<string, unknown>;

/** Where an operation looks: the container that holds the last part of the pointer. */
interface Place {
  readonly container: Container;
  readonly key: string;
  /** What is wrong, if the operation cannot go on. */
  problem(why: string): JsonPatchProblem;
}

/** The document after all operations. The given one stays as it is. */
export function applyJsonPatch(document: unknown, patch: readonly unknown[]): unknown {
  const root = { '': structuredClone(document) };
  for (const operation of patch) {
    applyOne(root, isContainer(operation) && !Array.isArray(operation) ? operation : {});
  }
  return root[''];
}

function applyOne(root: Container, operation: Operation): void {
  const { op, value } = operation;
  switch (op) {
    case 'add':
      put(placeOf(root, operation, 'path'), value);
      return;
    case 'remove':
      take(placeOf(root, operation, 'path'));
      return;
    case 'replace':
      replace(placeOf(root, operation, 'path'), value);
      return;
    case 'move': {
      const moved = take(placeOf(root, operation, 'from')); // before its target is looked for: indexes change
      put(placeOf(root, operation, 'path'), moved);
      return;
    }
    case 'copy':
      put(placeOf(root, operation, 'path'), read(placeOf(root, operation, 'from')) ?? null);
      return;
    case 'test':
      test(placeOf(root, operation, 'path'), value);
      return;
    default:
      throw new JsonPatchProblem(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
}

function put(place: Place, value: unknown): void {
  const { container, key } = place;
  if (!Array.isArray(container)) {
    define(container, key, value);
    return;
  }
  const index = key === '-' ? container.length : Number(key);
  if (!/^(?:-|\d+)$/.test(key) || index > container.length) {
    throw place.problem('invalid index');
  }
  container.splice(index, 0, structuredClone(value));
}

function take(place: Place): unknown {
  const { container, key } = place;
  const value = read(place);
  if (value === undefined) {
    throw place.problem('missing value');
  }
  if (Array.isArray(container)) {
    container.splice(Number(key), 1);
  } else {
    Reflect.deleteProperty(container, key);
  }
  return value;
}

function replace(place: Place, value: unknown): void {
  if (read(place) === undefined) {
    throw place.problem('missing value');
  }
  define(place.container, place.key, value);
}

function test(place: Place, expected: unknown): void {
  if (!isEqual(read(place) ?? null, expected ?? null)) {
    throw place.problem('test failed');
  }
}

/** Also for keys such as `__proto__`, which must stay data. */
function define(container: object, key: string, value: unknown): void {
  const property = { value: structuredClone(value), configurable: true, enumerable: true, writable: true };
  Object.defineProperty(container, key, property);
}

function placeOf(root: Container, operation: Operation, name: 'path' | 'from'): Place {
  const pointer = operation[name];
  function problem(why: string): JsonPatchProblem {
    const where = typeof pointer === 'string' ? JSON.stringify(pointer) : name;
    return new JsonPatchProblem(`${String(operation.op)} operation does not apply: ${where}: ${why}`);
  }
  const parts = typeof pointer === 'string' ? pointer.split('/').map(unescaped) : [];
  const key = parts.pop();
  const container = parts.reduce<unknown>(step, root);
  if (key === undefined || !isContainer(container)) {
    throw problem('missing value');
  }
  return { container, key, problem };
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function step(value: unknown, part: string): unknown {
  if (Array.isArray(value)) {
    return /^\d+$/.test(part) ? (value as unknown[])[Number(part)] : undefined;
  }
  return isContainer(value) && Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined;
}

function read({ container, key }: Place): unknown {
  return step(container, key);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
