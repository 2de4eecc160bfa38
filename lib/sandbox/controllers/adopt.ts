import { type LabelSelector, matchesLabelSelector } from '../../kube/model/selector.ts';
import type { KubeObject, OwnerReference } from '../../kube/model/wire.ts';
import type { Caller, InternalApi, KindRef } from '../model/internal.ts';

export interface Adoption {
  readonly owner: KubeObject;
  readonly selector: LabelSelector | undefined;
  readonly reference: OwnerReference;
  readonly kind: KindRef;
  /** Objects in the owner's namespace that no controller owns. */
  readonly orphans: readonly KubeObject[];
  readonly as: Caller;
}

/** Takes over what fits the owner's selector, unless the owner is about to go. */
export async function adopt(api: InternalApi, adoption: Adoption): Promise<void> {
  const { owner, selector, reference, kind, orphans, as } = adoption;
  if (owner.metadata?.deletionTimestamp !== undefined) {
    return;
  }
  for (const orphan of orphans) {
    const { labels = {}, ownerReferences = [], deletionTimestamp } = orphan.metadata ?? {};
    if (deletionTimestamp === undefined && matchesLabelSelector(selector, labels)) {
      const metadata = { ...orphan.metadata, ownerReferences: [...ownerReferences, reference] };
      await api.update(kind, { ...orphan, metadata }, {}, as);
    }
  }
}
