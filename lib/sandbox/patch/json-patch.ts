import { isEqual } from '../schema/value.ts';

/** A JSON Patch (RFC 6902) does not fit its document. The words are those of the API server. */
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
  readonly pointer: string;
  readonly container: Container | undefined;
  readonly key: string;
}

/** The document after all operations. The given one stays as it is. */
export function applyJsonPatch(document: unknown, patch: readonly unknown[]): unknown {
  const root = { '': structuredClone(document) };
  for (const operation of patch) {
    applyOne(root, asOperation(operation));
  }
  return root[''];
}

const operations: Readonly<Record<string, (root: Container, operation: Operation) => void>> = {
  add: (root, operation) => put(target(root, operation), operation.value, 'add'),
  remove: (root, operation) => remove(target(root, operation)),
  replace: (root, operation) => replace(target(root, operation), operation.value),
  move,
  copy,
  test: (root, operation) => test(target(root, operation), operation.value),
};

function applyOne(root: Container, operation: Operation): void {
  const { op } = operation;
  const run = typeof op === 'string' && Object.hasOwn(operations, op) ? operations[op] : undefined;
  if (run === undefined) {
    throw new JsonPatchProblem(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
  run(root, operation);
}

function put(place: Place, value: unknown, name: 'add' | 'copy' | 'move'): void {
  const { pointer, container, key } = place;
  if (container === undefined) {
    throw missing(
      name === 'add'
        ? `add operation does not apply: doc is missing path: "${pointer}"`
        : `${name} operation does not apply: doc is missing destination path: ${pointer}`,
    );
  }
  if (Array.isArray(container)) {
    container.splice(insertionIndex(container, place, name), 0, structuredClone(value));
  } else {
    define(container, key, value);
  }
}

/** Also for keys such as `__proto__`, which must stay data. */
function define(container: object, key: string, value: unknown): void {
  Object.defineProperty(container, key, {
    value: structuredClone(value),
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

function remove(place: Place, name: 'remove' | 'move' = 'remove'): void {
  const { pointer, container, key } = place;
  if (container === undefined) {
    throw missing(`remove operation does not apply: doc is missing path: "${pointer}"`);
  }
  if (Array.isArray(container)) {
    container.splice(indexOf(container, place, name), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) {
    throw missing(`error in ${name} for path: '${pointer}': Unable to remove nonexistent key: ${key}`);
  }
  Reflect.deleteProperty(container, key);
}

function replace(place: Place, value: unknown): void {
  const { pointer, container, key } = place;
  if (container === undefined) {
    throw missing(`replace operation does not apply: doc is missing path: ${pointer}`);
  }
  const found = read(place);
  if (found === undefined) {
    throw missing(`replace operation does not apply: doc is missing key: ${pointer}`);
  }
  if (Array.isArray(container)) {
    container[indexOf(container, place, 'replace')] = structuredClone(value);
  } else {
    define(container, key, value);
  }
}

function move(root: Container, operation: Operation): void {
  const from = source(root, operation, 'move');
  const value = read(from);
  remove(from, 'move');
  put(target(root, operation), value, 'move');
}

function copy(root: Container, operation: Operation): void {
  const from = source(root, operation, 'copy');
  const value = read(from);
  if (value === undefined && Array.isArray(from.container)) {
    throw new JsonPatchProblem(`error in copy for from: '${from.pointer}': ${invalidIndex(from.key)}`);
  }
  put(target(root, operation), value ?? null, 'copy');
}

function test(place: Place, expected: unknown): void {
  if (place.container === undefined) {
    throw missing(`test operation does not apply: is missing path: ${place.pointer}`);
  }
  if (!isEqual(read(place) ?? null, expected ?? null)) {
    throw new JsonPatchProblem(`testing value ${place.pointer} failed: test failed`);
  }
}

function source(root: Container, { from }: Operation, name: string): Place {
  const place = placeOf(root, from, 'operation, missing from field');
  if (place.container === undefined) {
    throw missing(`${name} operation does not apply: doc is missing from path: ${place.pointer}`);
  }
  return place;
}

function target(root: Container, { path, op }: Operation): Place {
  return placeOf(root, path, `${String(op)} operation failed to decode path`);
}

function placeOf(root: Container, pointer: unknown, absent: string): Place {
  if (typeof pointer !== 'string') {
    throw missing(absent);
  }
  const parts = pointer.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = parts.pop() ?? '';
  let container: unknown = root;
  for (const part of parts) {
    container = step(container, part);
  }
  return { pointer, container: isContainer(container) ? container : undefined, key };
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

function insertionIndex(list: readonly unknown[], { pointer, key }: Place, name: string): number {
  if (key === '-') {
    return list.length;
  }
  if (!/^-?\d+$/.test(key)) {
    const reason = `value was not a proper array index: '${key}': strconv.Atoi: parsing "${key}": invalid syntax`;
    throw new JsonPatchProblem(`error in ${name} for path: '${pointer}': ${reason}`);
  }
  if (Number(key) < 0 || Number(key) > list.length) {
    throw new JsonPatchProblem(`error in ${name} for path: '${pointer}': ${invalidIndex(key)}`);
  }
  return Number(key);
}

function indexOf(list: readonly unknown[], { pointer, key }: Place, name: string): number {
  if (!/^\d+$/.test(key)) {
    throw new JsonPatchProblem(
      `error in ${name} for path: '${pointer}': strconv.Atoi: parsing "${key}": invalid syntax`,
    );
  }
  if (Number(key) >= list.length) {
    throw new JsonPatchProblem(`error in ${name} for path: '${pointer}': ${invalidIndex(key)}`);
  }
  return Number(key);
}

function invalidIndex(key: string): string {
  return `Unable to access invalid index: ${key}: invalid index referenced`;
}

function missing(message: string): JsonPatchProblem {
  return new JsonPatchProblem(`${message}: missing value`);
}

function asOperation(value: unknown): Operation {
  return isContainer(value) && !Array.isArray(value) ? value : {};
}
