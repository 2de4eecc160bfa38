import { matchesLabelSelector } from '../../kube/model/selector.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { admin } from '../access/authenticate.ts';
import type { Cluster } from './cluster.ts';
import { create } from './create.ts';
import type { Caller, InternalApi, KindRef } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import { modify } from './modify.ts';
import { remove } from './remove.ts';
import type { Write } from './write.ts';

const nobody: KubeObject = { apiVersion: 'meta.k8s.io/v1' };

/** The objects as the sandbox's own parts reach them. */
export function createInternalApi(
  cluster: Pick<Cluster, 'kinds' | 'store' | 'clock'>,
  whole: () => Cluster,
): InternalApi {
  const { kinds, store, clock } = cluster;

  function kindOf(ref: KindRef): Kind {
    const kind = kinds.preferred(ref);
    if (kind === undefined) {
      throw new Error(`the sandbox serves no ${ref.plural} of group "${ref.group}"`);
    }
    return kind;
  }

  function writeFor(ref: KindRef, target: { name?: string; namespace?: string }, as = admin): Write {
    const { name, namespace } = target;
    const kind = kindOf(ref);
    return {
      kind,
      caller: as,
      manager: managerOf(as),
      dryRun: false,
      options: nobody,
      warn: () => undefined,
      ...(name !== undefined && { name }),
      ...(kind.namespaced && namespace !== undefined && { namespace }),
    };
  }

  return {
    clock,
    now: () => clock.now(),
    get: (ref, name, namespace) => store.get(ref, name, namespace)?.object,
    list(ref, { namespace, labelSelector } = {}) {
      const objects = Array.from(store.shelf(ref).range(namespace === undefined ? {} : { namespace }), objectOf);
      return labelSelector === undefined
        ? objects
        : objects.filter(({ metadata }) => matchesLabelSelector(labelSelector, metadata?.labels));
    },
    subscribe: (ref, listener) =>
      store.listen(ref, ({ type, current, previous }) =>
        listener({ type, object: current.object, ...(previous && { old: previous.object }) }),
      ),
    create: (ref, object, as) => create(whole(), writeFor(ref, { ...object.metadata }, as), object),
    update(ref, object, { subresource } = {}, as) {
      const write = writeFor(ref, { ...object.metadata }, as);
      return modify(whole(), { ...write, ...(subresource !== undefined && { subresource }) }, () => object);
    },
    async remove(ref, target, options = {}, as) {
      await remove(whole(), writeFor(ref, target, as), options);
    },
    restore: (ref, object) => store.restore(kindOf(ref), object).object,
    kinds: () => kinds.served(),
  };
}

function objectOf({ object }: { readonly object: KubeObject }): KubeObject {
  return object;
}

/** Controllers write as `kube-controller-manager`, the API server as `kube-apiserver`, as the real ones do. */
function managerOf({ username }: Caller): string {
  if (username === 'system:apiserver') {
    return 'kube-apiserver';
  }
  return username.startsWith('system:serviceaccount:kube-system:') ? 'kube-controller-manager' : username.slice(0, 128);
}
