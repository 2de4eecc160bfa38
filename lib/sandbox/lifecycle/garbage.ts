import type { KubeObject, OwnerReference } from '../../kube/model/wire.ts';
import { createQueue } from '../controllers/queue.ts';
import { isGone } from '../controllers/writes.ts';
import { subscribeToEveryKind } from './every-kind.ts';
import { createOwnership, type Entry, keyOfEntry, type Ownership, parseEntry } from './ownership.ts';
import type { Caller, InternalApi, ObjectEvent, PropagationPolicy, ServedKind } from '../model/internal.ts';

const as: Caller = {
  username: 'system:serviceaccount:kube-system:generic-garbage-collector',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/** Deletes what only absent owners hold, and carries out foreground and orphan deletion. The answer stops it. */
export function startGarbageCollector(api: InternalApi): () => void {
  const ownership = createOwnership(api);
  const queue = createQueue(api.clock, look, { workers: 16 });

  function onChange(kind: ServedKind, { type, object, old }: ObjectEvent): void {
    ownership.record(kind, type === 'DELETED' ? undefined : object, old);
    if (type === 'DELETED') {
      lookAtFamily(object);
    } else if (concerns(object)) {
      queue.add(keyOfEntry(entryOf(kind, object)));
    }
  }

  /** What depended on a deleted object, and owners that waited for it. */
  function lookAtFamily(object: KubeObject): void {
    const { uid = '', namespace, ownerReferences = [] } = object.metadata ?? {};
    for (const dependent of ownership.dependents(uid)) {
      queue.add(keyOfEntry(dependent));
    }
    for (const reference of ownerReferences) {
      const owner = ownership.owner(reference, namespace);
      if (owner.state === 'present' && has(owner.object, foreground)) {
        queue.add(keyOfEntry(owner.entry));
      }
    }
  }

  async function look(key: string): Promise<void> {
    const entry = parseEntry(key);
    const object = api.get(entry, entry.name, entry.namespace);
    if (object === undefined || object.metadata?.uid !== entry.uid) {
      return;
    }
    try {
      await attend(api, ownership, entry, object);
    } catch (error) {
      if (!isGone(error)) {
        throw error;
      }
      queue.addAfter(key, 10);
    }
    for (const dependent of has(object, foreground) ? ownership.dependents(entry.uid) : []) {
      queue.add(keyOfEntry(dependent));
    }
  }

  const stop = subscribeToEveryKind(api, onChange);
  for (const kind of api.kinds()) {
    for (const object of api.list(kind)) {
      onChange(kind, { type: 'ADDED', object });
    }
  }
  return () => {
    queue.close();
    stop();
  };
}

function concerns({ metadata }: KubeObject): boolean {
  return (metadata?.ownerReferences ?? []).length > 0 || metadata?.deletionTimestamp !== undefined;
}

function has({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

function entryOf(kind: ServedKind, { metadata }: KubeObject): Entry {
  const { name = '', namespace, uid = '' } = metadata ?? {};
  return { group: kind.group, plural: kind.plural, name, uid, ...(namespace !== undefined && { namespace }) };
}

async function attend(api: InternalApi, ownership: Ownership, entry: Entry, object: KubeObject): Promise<void> {
  if (has(object, orphan)) {
    await release(api, ownership, entry.uid);
    await api.update(entry, withoutFinalizer(object, orphan), {}, as);
    return;
  }
  if (has(object, foreground)) {
    if (ownership.dependents(entry.uid).every(({ blocks }) => !blocks)) {
      await api.update(entry, withoutFinalizer(object, foreground), {}, as);
    }
    return;
  }
  await collect(api, ownership, entry, object);
}

/** Takes the reference to an owner away from all that depend on it. */
async function release(api: InternalApi, ownership: Ownership, ownerUid: string): Promise<void> {
  for (const dependent of ownership.dependents(ownerUid)) {
    const object = api.get(dependent, dependent.name, dependent.namespace);
    if (object !== undefined) {
      await api.update(dependent, withoutOwners(object, new Set([ownerUid])), {}, as);
    }
  }
}

/** Deletes an object whose owners are all gone; one that still has an owner loses the references to the others. */
async function collect(api: InternalApi, ownership: Ownership, entry: Entry, object: KubeObject): Promise<void> {
  const references = object.metadata?.ownerReferences ?? [];
  const states = references.map((reference) => stateOf(ownership, reference, entry.namespace));
  const isEnding = object.metadata?.deletionTimestamp !== undefined;
  if (references.length === 0 || isEnding || states.includes('unknown')) {
    return;
  }
  if (!states.includes('solid')) {
    await remove(api, entry, policyFor(ownership, entry, object, states));
    return;
  }
  const lost = references.filter((_, index) => states[index] !== 'solid').map(({ uid }) => uid);
  if (lost.length > 0) {
    await api.update(entry, withoutOwners(object, new Set(lost)), {}, as);
  }
}

type OwnerState = 'solid' | 'dangling' | 'waiting' | 'unknown';

/** An owner that waits for this very object to go holds it no longer. */
function stateOf(ownership: Ownership, reference: OwnerReference, namespace: string | undefined): OwnerState {
  const owner = ownership.owner(reference, namespace);
  if (owner.state !== 'present') {
    return owner.state === 'absent' ? 'dangling' : 'unknown';
  }
  return has(owner.object, foreground) && reference.blockOwnerDeletion === true ? 'waiting' : 'solid';
}

function policyFor(
  ownership: Ownership,
  entry: Entry,
  { metadata }: KubeObject,
  states: readonly OwnerState[],
): PropagationPolicy {
  const finalizers = metadata?.finalizers ?? [];
  if (states.includes('waiting') && ownership.dependents(entry.uid).length > 0) {
    return 'Foreground';
  }
  if (finalizers.includes(orphan)) {
    return 'Orphan';
  }
  return finalizers.includes(foreground) ? 'Foreground' : 'Background';
}

async function remove(api: InternalApi, entry: Entry, propagationPolicy: PropagationPolicy): Promise<void> {
  const { name, namespace, uid } = entry;
  await api.remove(entry, { name, ...(namespace !== undefined && { namespace }) }, { uid, propagationPolicy }, as);
}

function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const { finalizers = [], ...metadata } = object.metadata ?? {};
  const left = finalizers.filter((each) => each !== finalizer);
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { finalizers: left }) } };
}

function withoutOwners(object: KubeObject, uids: ReadonlySet<string>): KubeObject {
  const { ownerReferences = [], ...metadata } = object.metadata ?? {};
  const left = ownerReferences.filter(({ uid }) => !uids.has(uid));
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) } };
}
