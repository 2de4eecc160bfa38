import { isRecord } from '../../base/json.ts';
import type { Json } from '../schema/value.ts';

/**
 * A set of paths in an object, as a tree: the form of `managedFields`.
 * Steps are spelled as on the wire: `f:name` a field, `k:{…}` an item by its keys, `v:…` an item by its value.
 */
export interface FieldSet {
  /** The path that leads here is in the set. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export type Path = readonly string[];

const noChildren: ReadonlyMap<string, FieldSet> = new Map();

export const emptySet: FieldSet = { isMember: false, children: noChildren };
const leaf: FieldSet = { isMember: true, children: noChildren };

export function isEmpty(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

/** Collects paths; `take` gives the set and ends the collecting. */
export interface FieldSetBuilder {
  add(path: Path): void;
  take(): FieldSet;
}

interface Node {
  isMember: boolean;
  children: Map<string, Node>;
}

export function collectFields(): FieldSetBuilder {
  const root: Node = { isMember: false, children: new Map() };
  return {
    add(path) {
      let node = root;
      for (const step of path) {
        let next = node.children.get(step);
        if (next === undefined) {
          next = { isMember: false, children: new Map() };
          node.children.set(step, next);
        }
        node = next;
      }
      node.isMember = true;
    },
    take: () => root,
  };
}

export function fieldSet(...paths: readonly Path[]): FieldSet {
  const fields = collectFields();
  for (const path of paths) {
    fields.add(path);
  }
  return fields.take();
}

/** Paths in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) {
    return a;
  }
  if (isEmpty(a)) {
    return b;
  }
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    children.set(step, union(children.get(step) ?? emptySet, child));
  }
  return { isMember: a.isMember || b.isMember, children };
}

/** Paths of `a` that are not in `b`; `a` itself when there is nothing to leave out. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return replaceChildren(a, a.isMember && !b.isMember, b, difference);
}

/** Paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const common = intersection(child, b.children.get(step) ?? emptySet);
    if (!isEmpty(common)) {
      children.set(step, common);
    }
  }
  return { isMember: a.isMember && b.isMember, children };
}

/** Paths of `a` that neither are in `b` nor lie below a path of `b`. */
export function withoutBelow(a: FieldSet, b: FieldSet): FieldSet {
  return b.isMember ? emptySet : replaceChildren(a, a.isMember, b, withoutBelow);
}

function replaceChildren(
  a: FieldSet,
  isMember: boolean,
  b: FieldSet,
  without: (a: FieldSet, b: FieldSet) => FieldSet,
): FieldSet {
  let children: Map<string, FieldSet> | undefined;
  for (const [step, taken] of b.children) {
    const child = a.children.get(step);
    const rest = child === undefined ? undefined : without(child, taken);
    if (rest !== undefined && rest !== child) {
      children ??= new Map(a.children);
      setOrDelete(children, step, rest);
    }
  }
  return children === undefined && isMember === a.isMember ? a : { isMember, children: children ?? a.children };
}

function setOrDelete(children: Map<string, FieldSet>, step: string, set: FieldSet): void {
  if (isEmpty(set)) {
    children.delete(step);
  } else {
    children.set(step, set);
  }
}

export function includes(set: FieldSet, path: Path): boolean {
  let node: FieldSet | undefined = set;
  for (const step of path) {
    node = node.children.get(step);
    if (node === undefined) {
      return false;
    }
  }
  return node.isMember;
}

/** All paths in the order in which the API server lists them: at each level first the members, then what lies below. */
export function paths(set: FieldSet, prefix: Path = []): Path[] {
  const steps = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  const members = steps.filter(([, child]) => child.isMember).map(([step]) => [...prefix, step]);
  return [...members, ...steps.flatMap(([step, child]) => paths(child, [...prefix, step]))];
}

/** Reads a `fieldsV1`. */
export function decodeFields(wire: unknown): FieldSet {
  return { isMember: false, children: decodeChildren(isRecord(wire) ? wire : {}) };
}

function decodeNode(wire: Json): FieldSet {
  const children = decodeChildren(wire);
  return children.size === 0 ? leaf : { isMember: '.' in wire, children };
}

function decodeChildren(wire: Json): ReadonlyMap<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of Object.entries(wire)) {
    if (knownStep.test(step)) {
      children.set(canonical(step), decodeNode(isRecord(child) ? child : {}));
    }
  }
  return children;
}

const knownStep = /^[fkvi]:/;

/** Keys of an item are compared as text, so their order must not differ. */
function canonical(step: string): string {
  if (!step.startsWith('k:') || !step.includes(',')) {
    return step;
  }
  const keys = JSON.parse(step.slice(2)) as Json;
  return keyStep(Object.keys(keys), (name) => keys[name]);
}

/** Writes a `fieldsV1`. */
export function encodeFields(set: FieldSet): Record<string, object> {
  const wire: Record<string, object> = {};
  if (set.isMember && set.children.size > 0) {
    wire['.'] = {};
  }
  for (const [step, child] of sorted(set.children)) {
    wire[step] = child.children.size === 0 ? {} : encodeFields(child);
  }
  return wire;
}

function sorted(children: ReadonlyMap<string, FieldSet>): Iterable<[string, FieldSet]> {
  return children.size <= 1 ? children : [...children].sort(([a], [b]) => (a < b ? -1 : 1));
}

export function fieldStep(name: string): string {
  return `f:${name}`;
}

export function valueStep(value: unknown): string {
  return `v:${JSON.stringify(value)}`;
}

export function keyStep(names: readonly string[], valueOf: (name: string) => unknown): string {
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    return `k:{${JSON.stringify(only)}:${JSON.stringify(valueOf(only))}}`;
  }
  const sorted = [...names].sort().map((name) => `${JSON.stringify(name)}:${JSON.stringify(valueOf(name))}`);
  return `k:{${sorted.join(',')}}`;
}

/** A path as the API server prints it: `.spec.containers[name="web"].image`. */
export function printPath(path: Path): string {
  return path.map(printStep).join('');
}

function printStep(step: string): string {
  const text = step.slice(2);
  if (step.startsWith('f:')) {
    return `.${text}`;
  }
  if (step.startsWith('k:')) {
    const keys = Object.entries(JSON.parse(text) as Json);
    return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
  }
  return step.startsWith('v:') ? `[=${text}]` : `[${text}]`;
}
