import type { KubeObject, ManagedFieldsEntry } from '../../kube/model/wire.ts';
import { compare, type Comparison } from './compare.ts';
import {
  decodeFields,
  difference,
  emptySet,
  encodeFields,
  fieldSet,
  isEmpty,
  union,
  withoutBelow,
  type FieldSet,
} from './field-set.ts';
import type { Schema } from '../schema/schema.ts';

/** What one writer owns of an object. */
export interface Manager {
  readonly entry: ManagedFieldsEntry;
  readonly fields: FieldSet;
  /** The fields as they were read, while they have not changed. */
  readonly wire?: object;
}

/** The writers of an object by their identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** Who writes, through which part of the API. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly now: Date;
}

export interface TrackedWrite extends Writer {
  /** Absent when the object is created. */
  readonly before?: KubeObject;
  readonly after: KubeObject;
  readonly schema: Schema;
  /** Fields that this part of the API does not write; without it those of the kind (`resetFields`). */
  readonly reset?: FieldSet;
}

const maxUpdaters = 10;
/** What every object has by itself and nobody owns. */
const unowned = fieldSet(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation'].map(metadataPath),
  ...['managedFields', 'resourceVersion'].map(metadataPath),
);

function metadataPath(name: string): string[] {
  return ['f:metadata', `f:${name}`];
}

/** The managed fields of an object after a create, an update or a patch that is not an apply. */
export function trackManagers(write: TrackedWrite): ManagedFieldsEntry[] {
  const managers = managersOf(write);
  const isNew = write.before?.metadata?.uid === undefined;
  if (managers.size === 0 && !isNew) {
    return [];
  }
  const reset = write.reset ?? resetFields(write);
  const comparison = compareTracked(write.before ?? {}, write.after, write.schema);
  const changes = exclude(comparison, reset);
  return encodeManagers(capUpdaters(addUpdate(takeAway(managers, changes), changes, write)));
}

/** Compares two objects for ownership: without what they say about ownership. */
export function compareTracked(before: KubeObject, after: KubeObject, schema: Schema): Comparison {
  return compare(withoutManagers(before), withoutManagers(after), schema);
}

export function withoutManagers(object: KubeObject): KubeObject {
  if (object.metadata?.managedFields === undefined) {
    return object;
  }
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export function exclude(comparison: Comparison, reset: FieldSet): Comparison {
  if (isEmpty(reset)) {
    return comparison;
  }
  return {
    added: withoutBelow(comparison.added, reset),
    modified: withoutBelow(comparison.modified, reset),
    removed: withoutBelow(comparison.removed, reset),
  };
}

/** A writer may correct the record by sending another one, or start it anew by sending an empty one. */
function managersOf({ before, after, subresource }: TrackedWrite): Managers {
  const sent = after.metadata?.managedFields;
  if (subresource !== undefined || sent === undefined) {
    return managersOfLive(before);
  }
  return isReset(sent) ? nobody : (decodeManagers(sent) ?? managersOfLive(before));
}

const nobody: Managers = new Map();

/** Who owns what of a stored object; a record that cannot be read counts as none. */
export function managersOfLive(live: KubeObject | undefined): Managers {
  return decodeManagers(live?.metadata?.managedFields ?? []) ?? nobody;
}

function isReset([first, ...others]: readonly ManagedFieldsEntry[]): boolean {
  return first === undefined || (others.length === 0 && Object.keys(first).length === 0);
}

/** Everybody loses what the write changed or removed. */
export function takeAway(managers: Managers, { added, modified, removed }: Comparison): Managers {
  const taken = union(union(added, modified), removed);
  const rest = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const fields = difference(manager.fields, taken);
    if (!isEmpty(fields)) {
      rest.set(id, fields === manager.fields ? manager : { entry: manager.entry, fields });
    }
  }
  return rest;
}

function addUpdate(managers: Managers, { added, modified }: Comparison, writer: Writer): Managers {
  const fields = stripUnowned(union(modified, added));
  if (isEmpty(fields)) {
    return managers;
  }
  const entry = entryOf(writer, 'Update');
  const id = identity(entry);
  return new Map([...managers, [id, { entry, fields: union(fields, managers.get(id)?.fields ?? emptySet) }]]);
}

export function stripUnowned(fields: FieldSet): FieldSet {
  return difference(fields, unowned);
}

/** What is known of a writer. The API server forgets the time of those who scale. */
export function entryOf(writer: Writer, operation: 'Apply' | 'Update'): ManagedFieldsEntry {
  return {
    manager: writer.manager === '' ? 'unknown' : writer.manager,
    operation,
    apiVersion: writer.apiVersion,
    ...(writer.subresource === 'scale' ? {} : { time: timestamp(writer.now) }),
    ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
  };
}

function timestamp(now: Date): string {
  return now.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** An applier is the same in every version of the kind; an updater is another one in each. */
export function identity({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Reads `managedFields`; `undefined` when an entry is not as it must be. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const isKnown = entry.operation === 'Apply' || entry.operation === 'Update';
    if (!isKnown || (entry.apiVersion ?? '') === '' || entry.fieldsType !== 'FieldsV1') {
      return undefined;
    }
    const { fieldsV1: wire = {} } = entry;
    managers.set(identity(entry), { entry, fields: decodeFields(wire), wire });
  }
  return managers;
}

/** Writes `managedFields`: appliers first, then by time. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  const entries = [...managers.values()].map(({ entry, fields, wire }) => ({
    manager: entry.manager ?? '',
    operation: entry.operation ?? ('Update' as const),
    apiVersion: entry.apiVersion ?? '',
    ...(entry.time === undefined ? {} : { time: entry.time }),
    fieldsType: 'FieldsV1' as const,
    fieldsV1: wire ?? encodeFields(fields),
    ...(entry.subresource === undefined ? {} : { subresource: entry.subresource }),
  }));
  return entries.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ operation, time, manager, apiVersion, subresource }: ManagedFieldsEntry): string {
  return [operation, time ?? '', manager, apiVersion, subresource ?? ''].join('\0');
}

/** Keeps the record short: the oldest updaters become one. */
function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { entry }]) => entry.operation === 'Update');
  if (updaters.length <= maxUpdaters) {
    return managers;
  }
  const oldestFirst = updaters.sort(
    ([a, x], [b, y]) => compareTexts(x.entry.time ?? '', y.entry.time ?? '') || compareTexts(a, b),
  );
  const merged = oldestFirst.slice(0, updaters.length - maxUpdaters + 1);
  const capped = new Map(managers);
  for (const [id, { entry, fields }] of merged) {
    capped.delete(id);
    const ancient: ManagedFieldsEntry = { manager: 'ancient-changes', operation: 'Update', ...pick(entry) };
    const known = capped.get(identity(ancient))?.fields ?? emptySet;
    capped.set(identity(ancient), { entry: ancient, fields: union(known, fields) });
  }
  return capped;
}

function pick({ apiVersion, time }: ManagedFieldsEntry): ManagedFieldsEntry {
  return { ...(apiVersion === undefined ? {} : { apiVersion }), ...(time === undefined ? {} : { time }) };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What a write through this part of the API leaves as it was, so that the writer cannot own it. */
export function resetFields(write: Pick<TrackedWrite, 'after' | 'schema' | 'subresource' | 'apiVersion'>): FieldSet {
  if (write.subresource === undefined) {
    return write.schema.properties.has('status') ? fieldSet(['f:status']) : emptySet;
  }
  if (write.subresource !== 'status') {
    return emptySet;
  }
  if (write.schema.definition === undefined) {
    return fieldSet(['f:spec'], ['f:metadata']); // a custom kind
  }
  const kind = `${write.apiVersion} ${write.after.kind ?? ''}`;
  return fieldSet(['f:spec'], ...(alsoResetByStatus[kind] ?? []));
}

const alsoResetByStatus: Readonly<Record<string, readonly string[][]>> = {
  'apps/v1 Deployment': [['f:metadata', 'f:labels']],
  'v1 Pod': [
    ['f:metadata', 'f:deletionTimestamp'],
    ['f:metadata', 'f:ownerReferences'],
  ],
};
