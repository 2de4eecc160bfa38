import { queueNames, stateName } from '../names.ts';
import { Unusable } from '../unusable.ts';
import { emptyState, isUnderWay, type Candidate, type Queue, type State } from './state.ts';

/** The state as ConfigMaps hold it: one key per part of it, and what the queue has more than fits. */
export interface Encoded {
  readonly data: Readonly<Record<string, string>>;
  /** Further queue ConfigMaps, in order. */
  readonly parts: readonly string[];
}

const version = 1;
const mostBytes = 900 * 1024;
const inlineBytes = 300 * 1024;
const partBytes = 800 * 1024;

type Key = keyof State;
const keys = Object.keys({ ...emptyState, pending: undefined } satisfies Record<Key, unknown>) as readonly Key[];

interface StoredQueue extends Omit<Queue, 'items'> {
  readonly items: readonly Candidate[];
  readonly parts: number;
}

export function encode(state: State): Encoded {
  const given = keys.filter((key) => state[key] !== undefined && key !== 'verified' && key !== 'queue');
  const known = Object.fromEntries(given.map((key) => [key, wrap(state[key])]));
  const chunks = chunksOf(state.queue.items, Math.min(inlineBytes, roomBeside(known)));
  const [inline = [], ...rest] = chunks.map((chunk) => chunk.map(({ part: _part, ...item }) => item));
  const queue: StoredQueue = { ...state.queue, items: inline, parts: rest.length };
  const data = { ...known, queue: wrap(queue) };
  return { data: { ...data, verified: wrap(fitting(state.verified, data)) }, parts: rest.map((items) => wrap(items)) };
}

function roomBeside(data: Readonly<Record<string, string>>): number {
  return mostBytes - Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Of what only spares probes as much as the rest leaves room for. */
function fitting(verified: readonly string[], data: Readonly<Record<string, string>>): readonly string[] {
  const each = (verified[0]?.length ?? 0) + '"",'.length;
  return verified.slice(0, Math.max(0, Math.floor(roomBeside(data) / each)));
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
  return Buffer.byteLength(JSON.stringify(item)) + ','.length;
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
    return value === undefined ? [] : [[key, value] as const];
  });
  const state = { ...emptyState, ...(Object.fromEntries(found) as Partial<State>) };
  const further = parts.flatMap((part, index) => tagged(unwrap(part, 'queue'), index + 1));
  const { configFingerprint, items } = state.queue;
  const queued = [...tagged(items, 0), ...further].filter((item) => !isUnderWay(state, item));
  return { ...state, queue: { configFingerprint, items: queued } };
}

function tagged(items: unknown, part: number): Candidate[] {
  return Array.isArray(items) ? (items as Candidate[]).map((item) => ({ ...item, part })) : [];
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
