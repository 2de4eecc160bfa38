import type { KubeObject } from '../../kube/model/wire.ts';
import type { Attributes, Operation } from '../model/attributes.ts';
import type { Cluster } from './cluster.ts';
import type { Caller } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import { notFound, type Subject } from '../model/status.ts';
import type { Stored } from '../store/stored.ts';

/** One write as it was asked for, over HTTP or by a controller. */
export interface Write {
  readonly kind: Kind;
  readonly subresource?: string;
  readonly namespace?: string;
  /** Absent for a create that names its object in the body. */
  readonly name?: string;
  readonly caller: Caller;
  /** The field manager. */
  readonly manager: string;
  readonly dryRun: boolean;
  readonly options: KubeObject;
  /** How admission sees the object, when the subresource shows it as another kind. */
  readonly view?: View;
  warn(text: string): void;
}

/** Another kind through which an object is seen and changed, such as Scale. */
export interface View {
  show(object: KubeObject): KubeObject;
  /** The object after a change of what it was shown as. */
  put(object: KubeObject, shown: KubeObject): KubeObject;
}

export function subjectOf({ kind, name = '' }: Pick<Write, 'kind' | 'name'>): Subject {
  return { group: kind.group, plural: kind.plural, name };
}

export function liveObject(cluster: Cluster, write: Pick<Write, 'kind' | 'name' | 'namespace'>): Stored {
  const live = cluster.store.get(write.kind, write.name ?? '', write.namespace);
  if (live === undefined) {
    throw notFound(subjectOf(write));
  }
  return live;
}

interface Objects {
  readonly object?: KubeObject;
  readonly old?: KubeObject;
}

/** How admission sees a write. */
export function attributes(write: Write, operation: Operation, objects: Objects): Attributes {
  const name = objects.object?.metadata?.name ?? write.name ?? '';
  const isNamespace = write.kind.group === '' && write.kind.plural === 'namespaces';
  return {
    operation,
    kind: write.kind,
    name,
    namespace: isNamespace ? name : (write.namespace ?? ''),
    caller: write.caller,
    dryRun: write.dryRun,
    options: write.options,
    warn: (text) => write.warn(text),
    ...(write.subresource === undefined ? {} : { subresource: write.subresource }),
    ...shown(objects, write.view),
  };
}

/** The object with its managed fields as this write leaves them. */
export function withManagers(cluster: Cluster, write: Write, after: KubeObject, before?: KubeObject): KubeObject {
  const { kind, manager, subresource } = write;
  const managedFields = cluster.rules.track({
    kind,
    after,
    manager,
    now: cluster.clock.now(),
    ...(before && { before }),
    ...(subresource !== undefined && { subresource }),
  });
  const { managedFields: _sent, ...metadata } = after.metadata ?? {};
  return { ...after, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}

/** The object as mutating admission leaves it. */
export async function mutate(
  cluster: Cluster,
  write: Write,
  operation: Operation,
  objects: Objects & { readonly object: KubeObject },
): Promise<KubeObject> {
  const asked = attributes(write, operation, objects);
  const mutated = await cluster.admission.mutate(asked);
  if (mutated === undefined || mutated === asked.object) {
    return objects.object;
  }
  return write.view ? write.view.put(objects.object, mutated) : mutated;
}

function shown({ object, old }: Objects, view: View | undefined): Objects {
  return {
    ...(object && { object: view ? view.show(object) : object }),
    ...(old && { old: view ? view.show(old) : old }),
  };
}
