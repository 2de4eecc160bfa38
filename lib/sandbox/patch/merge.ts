import { emptySet, fieldStep, isEmpty, type FieldSet } from './field-set.ts';
import { formOf, itemStep } from './item-step.ts';
import { fieldSchema, itemSchema, freeform, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isList, type Json } from '../schema/value.ts';

/** The live value with the applied one laid over it: shared containers are merged, everything else is replaced. */
export function mergeApplied(live: unknown, applied: unknown, schema: Schema): unknown {
  if (applied === undefined || (applied === null && hasParts(live, schema))) {
    return live; // null says nothing about what a container has
  }
  const form = formOf(schema, applied);
  if (form === 'leaf' || form !== formOf(schema, live)) {
    return applied;
  }
  if (isList(live) && isList(applied)) {
    return mergeItems(live, applied, schema);
  }
  return isRecord(live) && isRecord(applied) ? mergeFields(live, applied, schema) : applied;
}

function hasParts(value: unknown, schema: Schema): boolean {
  const parts = formOf(schema, value) !== 'leaf' && (isRecord(value) || isList(value)) ? Object.keys(value) : [];
  return parts.length > 0;
}

function mergeFields(live: Json, applied: Json, schema: Schema): Json {
  const merged: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(applied)) {
    merged[name] = mergeApplied(live[name], value, fieldSchema(schema, name));
  }
  return merged;
}

interface Item {
  readonly step: string;
  readonly value: unknown;
}

/**
 * Merges items by step. Applied items keep the order in which they are applied;
 * live items that are not applied keep their place behind the neighbour that they had.
 */
function mergeItems(live: readonly unknown[], applied: readonly unknown[], schema: Schema): unknown[] {
  const left = stepped(live, schema);
  const right = stepped(applied, schema);
  const liveByStep = new Map(left.map(({ step, value }) => [step, value]));
  const isApplied = new Set(right.map(({ step }) => step));
  return mergedOrder(left, right, isApplied).map(({ step, value }) =>
    isApplied.has(step) ? mergeApplied(liveByStep.get(step), value, itemSchema(schema)) : value,
  );
}

function mergedOrder(left: readonly Item[], right: readonly Item[], isApplied: ReadonlySet<string>): Item[] {
  const isLive = new Set(left.map(({ step }) => step));
  const merged: Item[] = [];
  let next = 0;
  for (const item of right) {
    const isShared = isLive.has(item.step);
    for (let other = left[next]; other !== undefined && other.step !== item.step; other = left[next]) {
      if (isApplied.has(other.step) && !isShared) {
        break; // a new item goes in front of the shared one that follows
      }
      if (!isApplied.has(other.step)) {
        merged.push(other);
      }
      next += 1;
    }
    merged.push(item);
    next += Number(left[next]?.step === item.step);
  }
  return [...merged, ...left.slice(next).filter(({ step }) => !isApplied.has(step))];
}

function stepped(items: readonly unknown[], schema: Schema): Item[] {
  return items.flatMap((value) => {
    const result = itemStep(schema, value);
    return 'step' in result ? [{ step: result.step, value }] : [];
  });
}

/** What takes the place of a container that lost all it had: nothing, or the null by which ownership still sees it. */
export type Emptied = null | undefined;

/** The value without the fields of the set. */
export function removeFields(value: unknown, set: FieldSet, schema: Schema, emptied?: Emptied): unknown {
  if (isEmpty(set)) {
    return value;
  }
  const form = formOf(schema, value);
  if (form === 'items' && isList(value)) {
    const rest = value.flatMap((item) => removeItem(item, set, schema, emptied));
    return rest.length === 0 ? emptied : rest;
  }
  if (form === 'fields' && isRecord(value)) {
    const rest = Object.entries(value).filter(([name]) => set.children.get(fieldStep(name))?.isMember !== true);
    return rest.length === 0 ? emptied : removeBelow(rest, set, schema, emptied);
  }
  return value;
}

function removeItem(item: unknown, set: FieldSet, schema: Schema, emptied: Emptied): readonly unknown[] {
  const result = itemStep(schema, item);
  const below = 'step' in result ? (set.children.get(result.step) ?? emptySet) : emptySet;
  return below.isMember ? [] : [removeFields(item, below, itemSchema(schema), emptied)];
}

function removeBelow(fields: [string, unknown][], set: FieldSet, schema: Schema, emptied: Emptied): Json {
  const rest: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    const below = set.children.get(fieldStep(name)) ?? emptySet;
    const left = removeFields(value, below, fieldSchema(schema, name), emptied);
    if (left !== undefined) {
      rest[name] = left;
    }
  }
  return rest;
}

/** The set together with the declared fields on the way to its members, which field sets usually leave out. */
export function withDeclaredParents(set: FieldSet, schema: Schema): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of set.children) {
    const inner = withDeclaredParents(child, schemaOfStep(schema, step));
    const isDeclared = step.startsWith('f:') && schema.properties.has(step.slice(2));
    children.set(step, isDeclared ? { ...inner, isMember: true } : inner);
  }
  return { isMember: set.isMember, children };
}

function schemaOfStep(schema: Schema, step: string): Schema {
  if (step.startsWith('f:')) {
    return fieldSchema(schema, step.slice(2));
  }
  return step.startsWith('k:') ? itemSchema(schema) : freeform;
}
