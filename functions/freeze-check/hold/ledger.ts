import { Failure } from '../../../lib/base/failure.ts';
import { pointer, unchanged, type Step } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { isRecord } from '../../../lib/base/json.ts';
import type { Decision } from './plan.ts';
import type { Candidates, Place } from './sources.ts';

export const stateName = 'freeze-check-state';

/** Where there is less, or something else, what is marked on the objects counts alone. */
const schema = '1';

/** The marks of one object, kept apart from it. */
export interface Entry {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly marks: Readonly<Record<string, string>>;
}

/**
 * Our marks on objects that others strip of annotations, by uid: an ApplicationSet does so with its Applications. An
 * object is written down before it is touched and struck off once it is given back, so nothing that is held is forgotten,
 * whoever dies in between. What is marked on an object itself counts more.
 */
export interface Ledger {
  readonly object: ConfigMap | undefined;
  readonly entries: ReadonlyMap<string, Entry>;
}

export const emptyLedger: Ledger = { object: undefined, entries: new Map() };

/** What a later release wrote may tell of objects that nothing else tells of: that throws, and nothing of it is touched. */
export function readLedger(object: ConfigMap | undefined): Ledger {
  const { schema: found, ...texts } = object?.data ?? {};
  if (Number(found) > Number(schema)) {
    const wish = 'install that release again and let it give everything back, or delete the ConfigMap';
    throw new Failure('unavailable', `${stateName} was written by a later release (schema ${found}): ${wish}`);
  }
  const read = found === schema ? Object.entries(texts).flatMap(([uid, text]) => entryIn(uid, text)) : [];
  return { object, entries: new Map(read) };
}

/** Where somebody left something else there is nothing. */
function entryIn(uid: string, text: string): readonly [string, Entry][] {
  try {
    const entry: unknown = JSON.parse(text);
    return isEntry(entry) ? [[uid, entry]] : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  return (
    isRecord(value) &&
    [value['kind'], value['namespace'], value['name']].every((text) => typeof text === 'string') &&
    isRecord(value['marks']) &&
    Object.values(value['marks']).every((text) => typeof text === 'string')
  );
}

/** The object as it was marked, whatever has become of the marks. */
export function recall<T extends KubeObject>({ entries }: Ledger, object: T): T {
  const entry = entries.get(object.metadata?.uid ?? '');
  const annotations = { ...entry?.marks, ...object.metadata?.annotations };
  return entry === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

/** The uids of objects that are written down for this place and were not found there. */
export function goneFrom({ entries }: Ledger, found: readonly Candidates[], { namespace, name }: Place): string[] {
  const uids = new Set(found.flatMap(({ objects }) => objects.map(({ metadata }) => metadata?.uid)));
  const kinds = new Set(found.map(({ kind }) => kind.resource.kind));
  return [...entries].flatMap(([uid, entry]) => {
    const isHere =
      kinds.has(entry.kind) &&
      (namespace === undefined || entry.namespace === namespace) &&
      (name === undefined || entry.name === name);
    return isHere && !uids.has(uid) ? [uid] : [];
  });
}

/** The most that the API server takes as the values of a ConfigMap, in bytes. */
const room = 1_048_576;

/** What there is no room to write down, and why. What is written down already stays, and the first of the rest fit. */
export function beyondRoom({ object }: Ledger, decisions: readonly Decision[]): ReadonlyMap<Decision, Failure> {
  const texts = isOurs(object) ? object.data : { schema };
  const beyond = new Map<Decision, Failure>();
  let used = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  for (const decision of keptApart(decisions)) {
    for (const [uid, entry] of entryOf(decision)) {
      const grown = used + Buffer.byteLength(JSON.stringify(entry)) - Buffer.byteLength(texts[uid] ?? '');
      if (grown > room) {
        const what = `${entry.kind} ${entry.namespace}/${entry.name}`;
        const message = `${stateName} is full: there is no room to write down ${what}`;
        beyond.set(decision, new Failure('impossible', message));
      } else {
        used = grown;
      }
    }
  }
  return beyond;
}

/** Writes down what is held, or is about to be. */
export function noting(ledger: Ledger, decisions: readonly Decision[], namespace: string): Step | undefined {
  return revision(ledger, new Map(keptApart(decisions).flatMap(entryOf)), namespace);
}

function entryOf({ kind, object, marks }: Decision): readonly [string, Entry][] {
  const { uid = '', namespace = '', name = '' } = object.metadata ?? {};
  return marks === undefined ? [] : [[uid, { kind: kind.resource.kind, namespace, name, marks }]];
}

/** Strikes off what was given back, and what is gone. */
export function striking(ledger: Ledger, ended: readonly string[], namespace: string): Step | undefined {
  return revision(ledger, new Map(ended.map((uid) => [uid, undefined])), namespace);
}

export function keptApart<T extends Pick<Decision, 'kind'>>(decisions: readonly T[]): readonly T[] {
  return decisions.filter(({ kind }) => kind.losesMarks === true);
}

/** Entries to set or, with `undefined`, to strike off; nothing where all is as it should be. */
function revision(
  { object, entries }: Ledger,
  wanted: ReadonlyMap<string, Entry | undefined>,
  namespace: string,
): Step | undefined {
  const texts = [...wanted].map(([uid, entry]) => [uid, textOf(entry), textOf(entries.get(uid))] as const);
  const differing = texts.filter(([, text, before]) => text !== before);
  const why = 'what is held and what it was before';
  if (differing.length === 0) {
    return undefined;
  }
  if (isOurs(object)) {
    const operations = differing.map(([uid, text]) => {
      const path = pointer('data', uid);
      return text === undefined ? { op: 'remove' as const, path } : { op: 'add' as const, path, value: text };
    });
    const place = { resource: configMaps, name: stateName, namespace };
    return { do: 'patch', ...place, operations: [unchanged(object), ...operations], why };
  }
  const data = { schema, ...Object.fromEntries(differing.map(([uid, text]) => [uid, text])) };
  return object === undefined
    ? {
        do: 'create',
        resource: configMaps,
        object: { metadata: { name: stateName, namespace }, data } as ConfigMap,
        why,
      }
    : {
        do: 'patch',
        resource: configMaps,
        name: stateName,
        namespace,
        operations: [unchanged(object), { op: 'add', path: pointer('data'), value: data }],
        why,
      };
}

/** Whether entries can be put beside those that are there. */
function isOurs(
  object: ConfigMap | undefined,
): object is ConfigMap & { readonly data: Readonly<Record<string, string>> } {
  return object?.data?.['schema'] === schema;
}

function textOf(entry: Entry | undefined): string | undefined {
  return entry && JSON.stringify(entry);
}
