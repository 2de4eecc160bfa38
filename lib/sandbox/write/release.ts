import type { KubeObject } from '../../kube/model/wire.ts';
import type { Kind } from '../model/kinds.ts';
import { listAt } from '../schema/value.ts';

/** True once an object that is being deleted has nothing left to wait for. */
export function isReleased(kind: Kind, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata ?? {};
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    finalizers.length === 0 &&
    !hasNamespaceFinalizers(kind, object)
  );
}

/** Namespaces carry a second list of finalizers in their spec. */
export function hasNamespaceFinalizers({ group, plural }: Kind, object: KubeObject): boolean {
  return group === '' && plural === 'namespaces' && listAt(object, 'spec', 'finalizers').length > 0;
}
