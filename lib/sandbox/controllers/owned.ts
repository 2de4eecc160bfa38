import type { KubeObject, OwnerReference } from '../../kube/model/wire.ts';
import type { InternalApi, KindRef, ObjectEvent } from '../model/internal.ts';

/** Objects of one kind by the controller that owns them, kept current. */
export interface Owned<T extends KubeObject> {
  of(ownerUid: string): readonly T[];
  /** Objects in a namespace that no controller owns. */
  orphans(namespace: string): readonly T[];
  close(): void;
}

/** `changed` hears of every change after the index has it, with the owner before and after. */
export function indexByOwner<T extends KubeObject>(
  api: InternalApi,
  kind: KindRef,
  changed: (event: ObjectEvent) => void,
): Owned<T> {
  const shelves = new Map<string, Map<string, T>>();

  function put(object: KubeObject): void {
    const shelf = shelves.get(shelfOf(object)) ?? new Map<string, T>();
    shelf.set(keyOf(object), object as T);
    shelves.set(shelfOf(object), shelf);
  }

  function drop(object: KubeObject): void {
    const shelf = shelves.get(shelfOf(object));
    shelf?.delete(keyOf(object));
    if (shelf?.size === 0) {
      shelves.delete(shelfOf(object));
    }
  }

  for (const object of api.list(kind)) {
    put(object);
  }
  const close = api.subscribe(kind, (event) => {
    if (event.old !== undefined && shelfOf(event.old) !== shelfOf(event.object)) {
      drop(event.old);
    }
    if (event.type === 'DELETED') {
      drop(event.object);
    } else {
      put(event.object);
    }
    changed(event);
  });
  return {
    of: (uid) => [...(shelves.get(uid)?.values() ?? [])],
    orphans: (namespace) => [...(shelves.get(`/${namespace}`)?.values() ?? [])],
    close,
  };
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/** `namespace/name`: how queues name objects. */
export function keyOf({ metadata: { namespace = '', name = '' } = {} }: KubeObject): string {
  return `${namespace}/${name}`;
}

export function parseKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function shelfOf(object: KubeObject): string {
  return controllerOf(object)?.uid ?? `/${object.metadata?.namespace ?? ''}`;
}
