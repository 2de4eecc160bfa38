import { collectFields, fieldStep, type FieldSet, type FieldSetBuilder } from './field-set.ts';
import { formOf, itemsByStep } from './item-step.ts';
import { fieldSchema, itemSchema, type Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList, type Json } from '../schema/value.ts';

/** Which fields a write touched. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Walk {
  /** Where the walk stands; changed in place. */
  readonly path: string[];
  readonly added: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly removed: FieldSetBuilder;
}

/** The fields that a writer claims by sending the object: its leaves, items and map entries. */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  const fields = collectFields();
  claim(value, schema, { path: [], fields });
  return fields.take();
}

interface Claim {
  readonly path: string[];
  readonly fields: FieldSetBuilder;
}

function claim(value: unknown, schema: Schema, at: Claim): void {
  const form = formOf(schema, value);
  if (form === 'items' && isList(value)) {
    claimItems(value, schema, at);
  } else if (form === 'fields' && isRecord(value)) {
    claimFields(value, schema, at);
  } else {
    at.fields.add(at.path);
  }
}

function claimItems(items: readonly unknown[], schema: Schema, at: Claim): void {
  for (const [step, [item, ...others]] of itemsByStep(schema, items)) {
    at.path.push(step);
    if (others.length === 0) {
      claim(item, itemSchema(schema), at);
    }
    at.fields.add(at.path);
    at.path.pop();
  }
}

function claimFields(object: Json, schema: Schema, at: Claim): void {
  for (const [name, value] of Object.entries(object)) {
    at.path.push(fieldStep(name));
    claim(value, fieldSchema(schema, name), at);
    if (!schema.properties.has(name) || isNothing(value)) {
      at.fields.add(at.path);
    }
    at.path.pop();
  }
}

function isNothing(value: unknown): boolean {
  return value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** What changed from `before` to `after`, by the schema: item by item where a list is shared by items. */
export function compare(before: unknown, after: unknown, schema: Schema): Comparison {
  const walk: Walk = { path: [], added: collectFields(), modified: collectFields(), removed: collectFields() };
  compareValues(before, after, schema, walk);
  return { added: walk.added.take(), modified: walk.modified.take(), removed: walk.removed.take() };
}

function compareValues(before: unknown, after: unknown, schema: Schema, walk: Walk): void {
  if (before === after) {
    return;
  }
  if (before === undefined) {
    addAll(after, schema, walk.added, walk.path);
  } else if (after === undefined) {
    addAll(before, schema, walk.removed, walk.path);
  } else {
    compareBoth(before, after, schema, walk);
  }
}

function compareBoth(before: unknown, after: unknown, schema: Schema, walk: Walk): void {
  const form = formOf(schema, before);
  if (form !== formOf(schema, after)) {
    compareForms(before, after, schema, walk);
  } else if (form === 'items' && isList(before) && isList(after)) {
    compareItems(before, after, schema, walk);
  } else if (form === 'fields' && isRecord(before) && isRecord(after)) {
    compareFields(before, after, schema, walk);
  } else if (!isEqual(before, after)) {
    walk.modified.add(walk.path);
  }
}

/** A container that became a leaf or the other way round; null is an empty container. */
function compareForms(before: unknown, after: unknown, schema: Schema, walk: Walk): void {
  addInner(before, schema, walk.removed, walk.path);
  addInner(after, schema, walk.added, walk.path);
  if (before !== null && after !== null) {
    walk.modified.add(walk.path);
  }
}

function compareFields(before: Json, after: Json, schema: Schema, walk: Walk): void {
  const isGoStruct = schema.definition !== undefined;
  for (const name of namesOf(before, after)) {
    if (before[name] === after[name] || (isGoStruct && isAbsent(before[name]) && isAbsent(after[name]))) {
      continue;
    }
    const inner = fieldSchema(schema, name);
    walk.path.push(fieldStep(name));
    compareValues(present(before[name], inner), present(after[name], inner), inner, walk);
    walk.path.pop();
  }
}

/** Go writes a list or time that is not there as null. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** A value as ownership sees it: what is always there is empty rather than absent. */
function present(value: unknown, { isEmbedded, shape }: Schema): unknown {
  if (!isEmbedded || (value !== undefined && value !== null)) {
    return value;
  }
  return shape === 'list' ? [] : {};
}

function namesOf(before: Json, after: Json): readonly string[] {
  const names = Object.keys(before);
  for (const name in after) {
    if (!(name in before)) {
      names.push(name);
    }
  }
  return names;
}

function compareItems(before: readonly unknown[], after: readonly unknown[], schema: Schema, walk: Walk): void {
  const left = itemsByStep(schema, before);
  const right = itemsByStep(schema, after);
  for (const step of new Set([...left.keys(), ...right.keys()])) {
    walk.path.push(step);
    compareSame(left.get(step) ?? [], right.get(step) ?? [], itemSchema(schema), walk);
    walk.path.pop();
  }
}

/** Items with the same step: normally one on each side. Repeated ones are owned as a whole, by the step alone. */
function compareSame(before: readonly unknown[], after: readonly unknown[], schema: Schema, walk: Walk): void {
  if (before.length <= 1 && after.length <= 1) {
    compareValues(before[0], after[0], schema, walk);
  } else if (before.length >= 2 && after.length >= 2) {
    if (!isEqual(before, after)) {
      walk.modified.add(walk.path);
    }
  } else if (before.length >= 2) {
    compareValues(undefined, after[0], schema, walk);
    walk.removed.add(walk.path);
  } else {
    compareValues(before[0], undefined, schema, walk);
    walk.added.add(walk.path);
  }
}

/** A value that came or went: every container, item and leaf of it. */
function addAll(value: unknown, schema: Schema, fields: FieldSetBuilder, path: string[]): void {
  addInner(value, schema, fields, path);
  fields.add(path);
}

function addInner(value: unknown, schema: Schema, fields: FieldSetBuilder, path: string[]): void {
  const form = formOf(schema, value);
  if (form === 'items' && isList(value)) {
    for (const [step, [item, ...others]] of itemsByStep(schema, value)) {
      path.push(step);
      if (others.length === 0) {
        addInner(item, itemSchema(schema), fields, path);
      }
      fields.add(path);
      path.pop();
    }
  } else if (form === 'fields' && isRecord(value)) {
    for (const name in value) {
      path.push(fieldStep(name));
      addAll(value[name], fieldSchema(schema, name), fields, path);
      path.pop();
    }
  }
}
