import type { EventType } from '../model/internal.ts';
import type { Stored } from './stored.ts';

/** One change of one object. `current` of a `DELETED` change is the last state with the revision of the deletion. */
export interface Change {
  readonly type: EventType;
  readonly revision: number;
  readonly current: Stored;
  readonly previous?: Stored;
}

export interface Range {
  /** Only keys of this namespace; absent means all. */
  readonly namespace?: string;
  /** The first key that may be returned. */
  readonly from?: string;
}

/** The objects of one kind in key order, with the changes that a watch may still ask for. */
export interface Shelf {
  readonly size: number;
  get(key: string): Stored | undefined;
  /** What is stored now, in key order. */
  range(range: Range): Iterable<Stored>;
  /** What was stored at `revision`; `undefined` when the history no longer reaches back so far. */
  rangeAt(revision: number, range: Range): Iterable<Stored> | undefined;
  /** The changes after `revision`, oldest first; `undefined` when some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined;
  record(change: Change): void;
  /** Forgets all changes: older revisions can no longer be read or watched from. */
  compact(revision: number): void;
  /** The oldest revision that can still be read. */
  readonly oldest: number;
}

/** `historyLimit` is how many changes are surely kept; up to twice as many may be. */
export function createShelf(historyLimit: number): Shelf {
  const byKey = new Map<string, Stored>();
  const sorted: Stored[] = [];
  let history: Change[] = [];
  let oldest = 0;

  function since(revision: number): readonly Change[] | undefined {
    return revision < oldest ? undefined : history.slice(firstAfter(history, revision));
  }

  function place({ type, current }: Change): void {
    const index = lowerBound(sorted, current.key);
    const isPresent = sorted[index]?.key === current.key;
    if (type === 'DELETED') {
      byKey.delete(current.key);
      sorted.splice(index, isPresent ? 1 : 0);
      return;
    }
    byKey.set(current.key, current);
    sorted.splice(index, isPresent ? 1 : 0, current);
  }

  function compact(revision: number): void {
    history = history.slice(firstAfter(history, revision));
    oldest = Math.max(oldest, revision);
  }

  return {
    get size() {
      return byKey.size;
    },
    get oldest() {
      return oldest;
    },
    get: (key) => byKey.get(key),
    range: (range) => slice(sorted, range),
    rangeAt(revision, range) {
      const changes = since(revision);
      return changes && slice(changes.length === 0 ? sorted : rewind(sorted, changes), range);
    },
    since,
    record(change) {
      place(change);
      history.push(change);
      if (history.length > 2 * historyLimit) {
        compact(history[historyLimit]?.revision ?? oldest);
      }
    },
    compact,
  };
}

function* slice(sorted: readonly Stored[], { namespace, from }: Range): Iterable<Stored> {
  const prefix = namespace === undefined ? '' : `${namespace}/`;
  const start = from !== undefined && from > prefix ? from : prefix;
  for (let index = lowerBound(sorted, start); index < sorted.length; index += 1) {
    const stored = sorted[index];
    if (stored?.key.startsWith(prefix) !== true) {
      return;
    }
    yield stored;
  }
}

/** The state before `changes`: each changed key goes back to what its first change replaced. */
function rewind(sorted: readonly Stored[], changes: readonly Change[]): readonly Stored[] {
  const before = new Map<string, Stored | undefined>();
  for (const { current, previous } of changes) {
    if (!before.has(current.key)) {
      before.set(current.key, previous);
    }
  }
  const unchanged = sorted.filter(({ key }) => !before.has(key));
  const restored = [...before.values()].filter((stored) => stored !== undefined);
  return [...unchanged, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function lowerBound(sorted: readonly Stored[], key: string): number {
  return firstIndex(sorted.length, (index) => (sorted[index]?.key ?? '') >= key);
}

function firstAfter(history: readonly Change[], revision: number): number {
  return firstIndex(history.length, (index) => (history[index]?.revision ?? 0) > revision);
}

/** The first index for which `holds` is true, where it is false for all before and true for all after. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
