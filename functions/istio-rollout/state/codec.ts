import { queueNames, stateName } from '../names.ts';
import { Unusable } from '../unusable.ts';
import { isShaped } from './shape.ts';
import { emptyState, isRemembered, isUnderWay, type Candidate, type Omitted, type Queue, type State } from './state.ts';

/** The state as ConfigMaps hold it: one key per part of it, and what the queue has more than fits there. */
export interface Encoded {
  readonly data: Readonly<Record<string, string>>;
  /** Further queue ConfigMaps, in order. */
  readonly parts: readonly string[];
}

export interface Fitted extends Encoded {
  /** As it can be read from there. */
  readonly state: State;
}

const version = 1;
const mostBytes = 900 * 1024;
const inlineBytes = 300 * 1024;
const partBytes = 800 * 1024;
/** The envelope of one more key. */
const wrapBytes = 200;

type Key = keyof State;
const keys = Object.keys({ ...emptyState, pending: undefined } satisfies Record<Key, unknown>) as readonly Key[];

interface StoredQueue extends Omit<Queue, 'items'> {
  readonly items: readonly Candidate[];
  readonly parts: number;
}

/** What must not be lost: without it something would be done twice, or not at all. */
const needed = ['controlPlanes', 'meshConfigs', 'webhooks', 'pending', 'inflight', 'pacing', 'counters'] as const;

/** The rest takes the room that this leaves, what is needed most first; what does not fit is left out and counted. */
export function encode(state: State): Fitted {
  const data = Object.fromEntries(needed.flatMap((key) => (state[key] === undefined ? [] : [[key, wrap(state[key])]])));
  const blocked = knownBlocked(state, roomBeside(data));
  data['blocked'] = wrap(blocked);
  const namespaces = knownNamespaces(state, roomBeside(data));
  data['namespaces'] = wrap(namespaces);
  const chunks = chunksOf(state.queue.items, Math.min(inlineBytes, roomBeside(data)));
  const [inline = [], ...rest] = chunks.map((chunk) => chunk.map(({ part: _part, ...item }) => item));
  const queue: StoredQueue = { ...state.queue, items: inline, parts: rest.length };
  data['queue'] = wrap(queue);
  const verified = fitting(state.verified, roomBeside(data));
  data['verified'] = wrap(verified);
  const kept = cut(state, { blocked, namespaces, items: chunks.flat(), verified });
  return { data: { ...data, omitted: wrap(kept.omitted) }, parts: rest.map(renderPart), state: kept };
}

type Kept = Pick<State, 'blocked' | 'namespaces' | 'verified'> & Pick<Queue, 'items'>;

/** The state without what is left out; that joins what was before. */
function cut(state: State, { items, ...kept }: Kept): State {
  const counts = {
    blocked: state.blocked.length - kept.blocked.length,
    namespaces: Object.keys(state.namespaces).length - Object.keys(kept.namespaces).length,
    queue: state.queue.items.length - items.length,
    verified: state.verified.length - kept.verified.length,
  };
  const missing = Object.entries(counts).filter(([, count]) => count > 0);
  if (missing.length === 0) {
    return state;
  }
  const sums = missing.map(([what, count]) => [what, (state.omitted[what as keyof Omitted] ?? 0) + count] as const);
  const omitted: Omitted = { ...state.omitted, ...Object.fromEntries(sums) };
  return { ...state, ...kept, queue: { ...state.queue, items }, omitted };
}

function roomBeside(data: Readonly<Record<string, string>>): number {
  return mostBytes - wrapBytes - Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** The first of the items, as many as there is room for. */
function fitting<T>(items: readonly T[], bytes: number): readonly T[] {
  let room = bytes;
  const end = items.findIndex((item) => (room -= bytesOf(item)) < 0);
  return end < 0 ? items : items.slice(0, end);
}

/** What cannot be found out again goes last. */
function knownBlocked({ blocked }: State, bytes: number): State['blocked'] {
  const kept = fitting([...blocked.filter(isRemembered), ...blocked.filter((each) => !isRemembered(each))], bytes);
  return kept.length === blocked.length ? blocked : kept;
}

/** One that has not changed for long is the last to change, and the least likely to have pods older than its change. */
function knownNamespaces({ namespaces }: State, bytes: number): State['namespaces'] {
  const entries = Object.entries(namespaces);
  const latestFirst = entries.toSorted(([, a], [, b]) => b.changedAt - a.changedAt);
  const kept = fitting(latestFirst, bytes);
  const names = new Set(kept.map(([name]) => name));
  return kept.length === entries.length ? namespaces : Object.fromEntries(entries.filter(([name]) => names.has(name)));
}

function wrap(value: unknown): string {
  return JSON.stringify({ v: version, value });
}

/**
 * Candidates stay in the ConfigMap that they are in while it has room, so that one of them going changes one ConfigMap
 * only.
 */
function chunksOf(items: readonly Candidate[], firstBytes: number): readonly (readonly Candidate[])[] {
  const chunks: Candidate[][] = [[]];
  const free = [firstBytes, ...queueNames.map(() => partBytes)];
  for (const item of items) {
    const size = sizeOf(item);
    const isAtHome = size <= (free[item.part ?? -1] ?? 0);
    const index = isAtHome ? (item.part ?? 0) : free.findIndex((room) => size <= room);
    if (index >= 0) {
      while (chunks.length <= index) {
        chunks.push([]);
      }
      chunks[index]?.push(item);
      free[index] = (free[index] ?? 0) - size;
    }
  }
  return chunks;
}

function sizeOf({ part: _part, ...item }: Candidate): number {
  return bytesOf(item);
}

function bytesOf(item: unknown): number {
  return Buffer.byteLength(JSON.stringify(item)) + ','.length;
}

/** What a further ConfigMap of the queue holds. */
export function renderPart(items: readonly Candidate[]): string {
  return wrap(items);
}

export function parsePart(text: string): readonly Candidate[] {
  const items = unwrap(text, 'queue');
  return Array.isArray(items) ? (items as Candidate[]) : [];
}

/** How many further ConfigMaps the queue needs. */
export function partsOf(data: Readonly<Record<string, string>>): number {
  const { parts = 0 } = (unwrap(data['queue'], 'queue') ?? {}) as Partial<StoredQueue>;
  return Math.min(parts, queueNames.length);
}

/** A key that cannot be read is lost. A later version's is not ours to overwrite: that throws. */
export function decode({ data, parts }: Encoded): State {
  const found = keys.flatMap((key) => {
    const value = unwrap(data[key], key);
    return isShaped(key, value) ? [[key, value] as const] : [];
  });
  const state = withoutGaps(
    { ...emptyState, ...(Object.fromEntries(found) as Partial<State>) },
    found.map(([key]) => key),
  );
  const { configFingerprint, items } = state.queue;
  const queued = [items, ...parts.map(parsePart)].flatMap((chunk, part) => chunk.map((item) => ({ ...item, part })));
  return { ...state, queue: { configFingerprint, items: known(state, queued) } };
}

/** Without what is under way all the rest counts for nothing: a scan has to find it in the cluster. */
function withoutGaps(state: State, found: readonly Key[]): State {
  const { lastFullScanAt: _scanned, ...pacing } = state.pacing;
  return found.includes('inflight') ? state : { ...state, pacing };
}

/** Further ConfigMaps may still hold what is elsewhere by now: the state was written, and then nothing more. */
function known(state: State, queued: readonly Candidate[]): readonly Candidate[] {
  const first = new Map(queued.toReversed().map((item) => [item.uid, item]));
  return queued.filter((item) => first.get(item.uid) === item && !isUnderWay(state, item));
}

function unwrap(text: string | undefined, key: string): unknown {
  if (text === undefined) {
    return undefined;
  }
  const { v, value } = parsed(text);
  if (typeof v === 'number' && v > version) {
    throw new Unusable(`${stateName}: ${key} was written by a later version (${v}); this one knows ${version}`);
  }
  return v === version ? value : undefined;
}

function parsed(text: string): { readonly v?: unknown; readonly value?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
