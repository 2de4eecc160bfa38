import type { InternalApi, KindRef, ObjectEvent, ServedKind } from '../model/internal.ts';

const definitions: KindRef = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };

/** Hears the changes of all kinds, also of those that are defined later. The answer ends it. */
export function subscribeToEveryKind(
  api: InternalApi,
  listener: (kind: ServedKind, event: ObjectEvent) => void,
): () => void {
  const subscriptions = new Map<string, () => void>();
  let isClosed = false;

  function refresh(): void {
    for (const kind of isClosed ? [] : api.kinds()) {
      const name = `${kind.group}/${kind.plural}`;
      if (!subscriptions.has(name)) {
        const end = api.subscribe(kind, (event) => listener(kind, event));
        subscriptions.set(name, end);
      }
    }
  }

  refresh();
  // A new kind is served once its definition is stored: not yet while listeners are notified of it.
  const stop = api.subscribe(definitions, () => void setImmediate(refresh));
  return () => {
    isClosed = true;
    stop();
    for (const end of subscriptions.values()) {
      end();
    }
  };
}
