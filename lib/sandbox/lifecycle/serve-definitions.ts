import { apiServer, type InternalApi, type KindRef } from '../model/internal.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';
import { createQueue } from '../controllers/queue.ts';
import { definitionStatus, isEstablished } from '../definitions/conditions.ts';
import { customKinds } from '../definitions/custom-kinds.ts';
import type { Kinds } from '../model/kinds.ts';
import { cleanup } from '../write/remove.ts';
import type { Schema } from '../schema/schema.ts';
import { isEqual, type Json, stringAt } from '../schema/value.ts';

const definitions: KindRef = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
/** How long to wait for objects whose finalizers hold their definition. */
const heldMs = 100;

export interface Definitions {
  readonly api: InternalApi;
  readonly kinds: Kinds;
  /** What custom objects share with all others. */
  readonly objectMeta: Schema;
}

/** Serves what CustomResourceDefinitions define, as they come, change and go. The answer stops it. */
export function serveDefinitions({ api, kinds, objectMeta }: Definitions): () => void {
  const queue = createQueue(api.clock, look, { workers: 1 });

  async function look(name: string): Promise<void> {
    const definition = api.get(definitions, name);
    if (definition === undefined) {
      return;
    }
    if (definition.metadata?.deletionTimestamp !== undefined) {
      await clear(definition);
      return;
    }
    const status = definitionStatus({ ...definition }, others(definition), timestamp(api.now()));
    if (isEstablished(status)) {
      kinds.setCustom(refOf(definition), customKinds(definition, objectMeta));
    }
    if (!isEqual(status, (definition as Json)['status'])) {
      await api.update(definitions, { ...definition, ...{ status } }, { subresource: 'status' }, apiServer);
    }
  }

  /** A definition takes all its objects with it. */
  async function clear(definition: KubeObject): Promise<void> {
    const ref = refOf(definition);
    for (const { metadata } of api.list(ref)) {
      const { name = '', namespace } = metadata ?? {};
      await api.remove(ref, { name, ...(namespace !== undefined && { namespace }) }, {}, apiServer);
    }
    if (api.list(ref).length > 0) {
      queue.addAfter(definition.metadata?.name ?? '', heldMs);
      return;
    }
    const finalizers = (definition.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== cleanup);
    await api.update(definitions, { ...definition, metadata: { ...definition.metadata, finalizers } }, {}, apiServer);
  }

  function others(definition: KubeObject): readonly Json[] {
    const { group } = refOf(definition);
    return api
      .list(definitions)
      .filter((other) => other !== definition && refOf(other).group === group)
      .map((other) => ({ ...other }));
  }

  const stop = api.subscribe(definitions, ({ type, object }) => {
    if (type === 'DELETED') {
      kinds.setCustom(refOf(object), []);
      api.list(definitions).forEach((other) => queue.add(other.metadata?.name ?? ''));
    } else {
      queue.add(object.metadata?.name ?? '');
    }
  });
  return () => {
    queue.close();
    stop();
  };
}

function refOf(definition: KubeObject): KindRef {
  return {
    group: stringAt(definition, 'spec', 'group') ?? '',
    plural: stringAt(definition, 'spec', 'names', 'plural') ?? '',
  };
}
