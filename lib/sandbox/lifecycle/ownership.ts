import { groupVersion } from '../../kube/model/resource.ts';
import type { KubeObject, OwnerReference } from '../../kube/model/wire.ts';
import type { InternalApi, KindRef, ServedKind } from '../model/internal.ts';

/** An object in the graph of owners. */
export interface Entry extends KindRef {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

export interface Dependent extends Entry {
  /** Keeps an owner that is deleted in the foreground. */
  readonly blocks: boolean;
}

/** `unknown`: of a kind that is not served, or out of reach from there, so that nothing can be said about it. */
export type Owner =
  | { readonly state: 'present'; readonly object: KubeObject; readonly entry: Entry }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown' };

/** Who depends on whom, kept current by the changes that it records. */
export interface Ownership {
  record(kind: ServedKind, object: KubeObject | undefined, old: KubeObject | undefined): void;
  dependents(ownerUid: string): readonly Dependent[];
  owner(reference: OwnerReference, namespace: string | undefined): Owner;
}

export function createOwnership(api: Pick<InternalApi, 'get' | 'kinds'>): Ownership {
  const byOwner = new Map<string, Map<string, Dependent>>();

  function drop(object: KubeObject): void {
    const { uid = '', ownerReferences = [] } = object.metadata ?? {};
    for (const { uid: ownerUid } of ownerReferences) {
      const family = byOwner.get(ownerUid);
      family?.delete(uid);
      if (family?.size === 0) {
        byOwner.delete(ownerUid);
      }
    }
  }

  function add({ group, plural }: ServedKind, { metadata }: KubeObject): void {
    const { name = '', namespace, uid = '', ownerReferences = [] } = metadata ?? {};
    for (const { uid: ownerUid, blockOwnerDeletion = false } of ownerReferences) {
      const family = byOwner.get(ownerUid) ?? new Map<string, Dependent>();
      const place = namespace === undefined ? {} : { namespace };
      byOwner.set(ownerUid, family.set(uid, { group, plural, name, uid, blocks: blockOwnerDeletion, ...place }));
    }
  }

  return {
    record(kind, object, old) {
      if (old !== undefined) {
        drop(old);
      }
      if (object !== undefined) {
        add(kind, object);
      }
    },
    dependents: (ownerUid) => [...(byOwner.get(ownerUid)?.values() ?? [])],
    owner: (reference, namespace) => findOwner(api, reference, namespace),
  };
}

function findOwner(
  api: Pick<InternalApi, 'get' | 'kinds'>,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
): Owner {
  const { group } = groupVersion(apiVersion);
  const served = api.kinds().find((each) => each.group === group && each.kind === kind);
  if (served === undefined || (served.namespaced && namespace === undefined)) {
    return { state: 'unknown' };
  }
  const place = served.namespaced && namespace !== undefined ? { namespace } : {};
  const object = api.get(served, name, place.namespace);
  return object?.metadata?.uid === uid
    ? { state: 'present', object, entry: { group, plural: served.plural, name, uid, ...place } }
    : { state: 'absent' };
}

/** Objects as the keys of a queue. */
export function keyOfEntry({ group, plural, namespace = '', name, uid }: Entry): string {
  return [group, plural, namespace, name, uid].join('|');
}

export function parseEntry(key: string): Entry {
  const [group = '', plural = '', namespace = '', name = '', uid = ''] = key.split('|');
  return { group, plural, name, uid, ...(namespace === '' ? {} : { namespace }) };
}
