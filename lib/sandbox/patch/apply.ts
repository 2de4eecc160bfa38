import type { KubeObject, ManagedFieldsEntry } from '../../kube/model/wire.ts';
import { fieldsOf, type Comparison } from './compare.ts';
import {
  difference,
  emptySet,
  includes,
  intersection,
  isEmpty,
  paths,
  printPath,
  union,
  withoutBelow,
  type FieldSet,
  type Path,
} from './field-set.ts';
import {
  compareTracked,
  decodeManagers,
  encodeManagers,
  entryOf,
  exclude,
  identity,
  managersOfLive,
  resetFields,
  stripUnowned,
  takeAway,
  trackManagers,
  withoutManagers,
  type Manager,
  type Managers,
  type Writer,
} from './managed-fields.ts';
import { mergeApplied, removeFields, withDeclaredParents } from './merge.ts';
import { normalize } from '../schema/normalize.ts';
import type { Schema } from '../schema/schema.ts';
import { ApiError, badRequest } from '../model/status.ts';
import { typeProblems } from './typed-patch.ts';
import { isRecord } from '../../base/json.ts';
import { isEqual, isList, stringAt } from '../schema/value.ts';

export interface Apply extends Writer {
  /** Absent when the apply creates the object. */
  readonly live?: KubeObject;
  readonly applied: KubeObject;
  readonly force: boolean;
  readonly schema: Schema;
  /** The kind that the request names; the applied object must say the same. */
  readonly kind?: string;
  readonly reset?: FieldSet;
}

interface Conflict {
  readonly entry: ManagedFieldsEntry;
  readonly path: Path;
}

/** A conflict with other writers, before it is known whether it stands. */
class ApplyConflict extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(conflictText(conflicts));
    this.name = 'ApplyConflict';
    this.conflicts = conflicts;
  }
}

/**
 * Server-side apply: the live object with the applied fields, without the fields that the manager
 * applied before and no longer does, with `managedFields` rewritten. Refuses with a conflict what others own.
 */
export function serverSideApply(apply: Apply): KubeObject {
  checkApplied(apply);
  try {
    return withLastApplied(applyOnce(apply), apply);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) {
      throw error;
    }
    const standing = conflictsThatStand(error.conflicts, apply);
    if (standing.length > 0) {
      throw conflictError(standing);
    }
    return withLastApplied(applyOnce({ ...apply, force: true }), apply);
  }
}

function checkApplied({ applied, apiVersion, kind = applied.kind, schema }: Apply): void {
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) {
    throw badRequest(`invalid object type: ${printType(applied)}`);
  }
  if (applied.metadata?.managedFields !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const [problem, ...others] = typeProblems(applied, schema);
  if (problem !== undefined) {
    throw untyped(applied, [problem, ...others]);
  }
}

function untyped(applied: KubeObject, problems: readonly string[]): ApiError {
  const { namespace = '', name = '' } = applied.metadata ?? {};
  const text = problems.length === 1 ? problems.join('') : ['errors:', ...problems.map((one) => `  ${one}`)].join('\n');
  return new ApiError(500, {
    message: `failed to create typed patch object (${namespace}/${name}; ${printType(applied)}): ${text}`,
  });
}

function printType({ apiVersion = '', kind = '' }: KubeObject): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}

function applyOnce(apply: Apply): KubeObject {
  const { applied, schema } = apply;
  const live = withoutManagers(apply.live ?? emptyObject(applied));
  const reset = apply.reset ?? resetFields({ ...apply, after: applied });
  const before = managersBefore(apply);
  const entry = entryOf(apply, 'Apply');
  const id = identity(entry);
  const own = { entry, fields: withoutBelow(fieldsOf(applied, schema), reset) };

  const { next, comparison } = outcome(live, apply, { before, id, own });
  const changes = exclude(comparison, reset);
  const others = new Map([...before].filter(([other]) => other !== id));
  const conflicts = apply.force ? [] : conflictsOf(others, union(changes.modified, changes.added));
  if (conflicts.length > 0) {
    throw new ApplyConflict(conflicts);
  }
  const isSame = apply.live !== undefined && isEqual(live, next);
  const managers = withOwn(takeAway(others, changes), id, isSame ? withTimeOf(own, before.get(id)) : own);
  return withManagers(isSame ? live : next, managers);
}

interface Ownership {
  readonly before: Managers;
  readonly id: string;
  readonly own: Manager;
}

/** The object after the apply, and what that changes for those who own its fields. */
function outcome(
  live: KubeObject,
  { applied, schema }: Apply,
  { before, id, own }: Ownership,
): { next: KubeObject; comparison: Comparison } {
  const merged = mergeApplied(live, applied, schema) as KubeObject;
  const managers = new Map([...before, [id, own]]);
  const last = before.get(id)?.fields;
  const unapplied = fieldsToPrune(merged, managers, { last, claimed: own.fields, schema });
  const pruned = removeFrom(merged, unapplied, schema);
  return {
    next: schema.definition === undefined ? pruned : normalize(pruned, schema),
    comparison: compareTracked(live, removeFrom(merged, unapplied, schema, null), schema),
  };
}

function removeFrom(object: KubeObject, fields: FieldSet, schema: Schema, emptied?: null): KubeObject {
  return removeFields(object, fields, schema, emptied) ?? {};
}

function withOwn(managers: Managers, id: string, own: Manager): Managers {
  const fields = stripUnowned(own.fields);
  return isEmpty(fields) ? managers : new Map([...managers, [id, { ...own, fields }]]);
}

/** An apply that changes nothing keeps its time, or has none when the manager is new. */
function withTimeOf(own: Manager, before: Manager | undefined): Manager {
  const { time: _, ...entry } = own.entry;
  const time = before?.entry.time;
  return { ...own, entry: time === undefined ? entry : { ...entry, time } };
}

function emptyObject({ apiVersion, kind }: KubeObject): KubeObject {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
  };
}

/** The record of an object that was never tracked begins with one manager for all that is there. */
function managersBefore({ live, subresource: _, ...writer }: Apply): Managers {
  const managers = managersOfLive(live);
  if (managers.size > 0 || live === undefined) {
    return managers;
  }
  const entries = trackManagers({ ...writer, manager: 'before-first-apply', after: withoutManagers(live) });
  return decodeManagers(entries) ?? managers;
}

interface Pruning {
  readonly last: FieldSet | undefined;
  readonly claimed: FieldSet;
  readonly schema: Schema;
}

/** What the manager applied last time, does not apply now, and nobody else owns. */
function fieldsToPrune(merged: KubeObject, managers: Managers, { last, claimed, schema }: Pruning): FieldSet {
  if (last === undefined || isEmpty(difference(last, claimed))) {
    return emptySet;
  }
  const lastFields = withDeclaredParents(last, schema);
  const mergedFields = withDeclaredParents(fieldsOf(merged, schema), schema);
  const owned = [...managers.values()].map(({ fields }) => withDeclaredParents(fields, schema));

  const without = removeFrom(merged, lastFields, schema, null);
  const keptFields = withDeclaredParents(fieldsOf(without, schema), schema);
  const dropped = difference(mergedFields, [keptFields, ...owned].reduce(union, emptySet));
  const withOwned = removeFrom(merged, dropped, schema, null);
  const finalFields = withDeclaredParents(fieldsOf(withOwned, schema), schema);
  return intersection(difference(mergedFields, finalFields), lastFields);
}

function conflictsOf(managers: Managers, changed: FieldSet): Conflict[] {
  return [...managers.values()].flatMap(({ entry, fields }) =>
    paths(intersection(fields, changed)).map((path) => ({ entry, path })),
  );
}

function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const managedFields = encodeManagers(managers);
  return managedFields.length === 0 ? object : { ...object, metadata: { ...object.metadata, managedFields } };
}

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** kubectl may take over without conflict what its own client-side apply wrote and nobody changed since. */
function conflictsThatStand(conflicts: readonly Conflict[], apply: Apply): readonly Conflict[] {
  const text = stringAt(apply.live, 'metadata', 'annotations', lastAppliedAnnotation);
  if (apply.manager !== 'kubectl' || text === undefined || apply.live === undefined) {
    return conflicts;
  }
  const lastApplied = JSON.parse(text) as KubeObject;
  if (lastApplied.apiVersion !== apply.apiVersion) {
    return conflicts;
  }
  const { added, modified, removed } = compareTracked(lastApplied, apply.live, apply.schema);
  const changed = [added, modified, removed].reduce(union, emptySet);
  const allowed = difference(fieldsOf(lastApplied, apply.schema), changed);
  return conflicts.filter(({ path }) => !includes(allowed, path));
}

/** Keeps the record of client-side apply true, for those who go back to it. */
function withLastApplied(object: KubeObject, { manager, applied }: Apply): KubeObject {
  const { annotations } = object.metadata ?? {};
  if (manager !== 'kubectl' || (annotations?.[lastAppliedAnnotation] ?? '') === '') {
    return object;
  }
  const text = `${JSON.stringify(sorted(withoutLastApplied(applied)))}\n`;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [lastAppliedAnnotation]: text } },
  };
}

function withoutLastApplied(applied: KubeObject): KubeObject {
  const { annotations: sent = {}, ...metadata } = applied.metadata ?? {};
  const { [lastAppliedAnnotation]: _, ...annotations } = sent;
  const isBare = Object.keys(annotations).length === 0;
  return { ...applied, metadata: isBare ? metadata : { ...metadata, annotations } };
}

/** Go writes the fields of maps in the order of their names. */
function sorted(value: unknown): unknown {
  if (isList(value)) {
    return value.map(sorted);
  }
  if (!isRecord(value)) {
    return value;
  }
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

function conflictError(conflicts: readonly Conflict[]): ApiError {
  return new ApiError(409, {
    reason: 'Conflict',
    message: conflictText(conflicts),
    details: {
      causes: conflicts.map(({ entry, path }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${printManager(entry)}`,
        field: printPath(path),
      })),
    },
  });
}

function conflictText(conflicts: readonly Conflict[]): string {
  const [only, ...others] = conflicts;
  if (only !== undefined && others.length === 0) {
    return `Apply failed with 1 conflict: conflict with ${printManager(only.entry)}: ${printPath(only.path)}`;
  }
  const byManager = Map.groupBy(conflicts, ({ entry }) => identity(entry));
  const lines = [...byManager.keys()].sort().flatMap((id) => {
    const [first, ...rest] = byManager.get(id) ?? [];
    return first === undefined
      ? []
      : [`conflicts with ${printManager(first.entry)}:`, ...[first, ...rest].map(({ path }) => `- ${printPath(path)}`)];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function printManager({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  const part = subresource === undefined ? '' : ` with subresource "${subresource}"`;
  return `"${manager ?? ''}"${part}${operation === 'Update' ? ` using ${apiVersion ?? ''}` : ''}`;
}
