import type { KubeObject } from '../../kube/model/wire.ts';
import type { EventType, KindRef } from '../model/internal.ts';
import { type Change, createShelf, type Shelf } from './shelf.ts';
import { keyOf, store, type Stored } from './stored.ts';

/** All objects, with one revision counter for the whole store as etcd has. Nothing returned may be changed. */
export interface Store {
  readonly revision: number;
  shelf(kind: KindRef): Shelf;
  get(kind: KindRef, name: string, namespace?: string): Stored | undefined;
  /** Stores the object under the next revision. `previous` must be what is stored now: callers check that first. */
  put(kind: KindRef, object: KubeObject, previous?: Stored): Stored;
  /** Stores the object under its own revision, or under the next one if the store is past it. */
  restore(kind: KindRef, object: KubeObject): Stored;
  /** Removes the object; the answer is its last state with the revision of the removal. */
  remove(kind: KindRef, previous: Stored, last?: KubeObject): Stored;
  /** Reports every later change of the kind, in order. Call the returned function to stop. */
  listen(kind: KindRef, listener: (change: Change) => void): () => void;
  /** Forgets all history, as a compaction of etcd does. */
  compact(): void;
}

export interface StoreOptions {
  /** How many changes of each kind a watch can surely resume over. */
  readonly historyLimit?: number;
}

export function createStore({ historyLimit = 10_000 }: StoreOptions = {}): Store {
  const shelves = new Map<string, Shelf>();
  const listeners = new Map<string, Set<(change: Change) => void>>();
  let revision = 1;

  function shelf(kind: KindRef): Shelf {
    const name = shelfName(kind);
    const known = shelves.get(name) ?? createShelf(historyLimit);
    shelves.set(name, known);
    return known;
  }

  function publish(kind: KindRef, change: Change): void {
    shelf(kind).record(change);
    for (const listener of listeners.get(shelfName(kind)) ?? []) {
      listener(change);
    }
  }

  function change(kind: KindRef, type: EventType, object: KubeObject, previous?: Stored): Stored {
    revision += 1;
    const { name = '', namespace } = object.metadata ?? {};
    const current = store(keyOf(name, namespace), revision, object);
    publish(kind, { type, revision, current, ...(previous === undefined ? {} : { previous }) });
    return current;
  }

  function put(kind: KindRef, object: KubeObject, previous?: Stored): Stored {
    return change(kind, previous === undefined ? 'ADDED' : 'MODIFIED', object, previous);
  }

  return {
    get revision() {
      return revision;
    },
    shelf,
    get: (kind, name, namespace) => shelf(kind).get(keyOf(name, namespace)),
    put,
    restore(kind, object) {
      const { name = '', namespace, resourceVersion = '0' } = object.metadata ?? {};
      revision = Math.max(revision, Number(resourceVersion) - 1);
      return put(kind, object, shelf(kind).get(keyOf(name, namespace)));
    },
    remove: (kind, previous, last = previous.object) => change(kind, 'DELETED', last, previous),
    listen(kind, listener) {
      const name = shelfName(kind);
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all.add(listener));
      return () => all.delete(listener);
    },
    compact() {
      for (const each of shelves.values()) {
        each.compact(revision);
      }
    },
  };
}

/** Events of both groups are the same objects. */
function shelfName({ group, plural }: KindRef): string {
  return group === 'events.k8s.io' ? `/${plural}` : `${group}/${plural}`;
}
