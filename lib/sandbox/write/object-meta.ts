import type { KubeObject, Metadata } from '../../kube/model/wire.ts';
import type { Kind } from '../model/kinds.ts';
import { type Cause, invalid } from '../model/status.ts';

/** Fields that an update may leave out but never take away. */
const lasting = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

/** Fields that an update may not change. */
const fixed = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const;

/** What was sent, completed by what only the server writes. */
export function inheritedMetadata(sent: Metadata = {}, live: Metadata = {}): Metadata {
  const inherited = Object.fromEntries(
    lasting
      .filter((field) => sent[field] === undefined && live[field] !== undefined)
      .map((field) => [field, live[field]]),
  );
  const { name, namespace } = live;
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...sent,
    ...inherited,
  };
}

/** Refuses an update that changes what an object is, or holds it longer while it is being deleted. */
export function assertUpdatable(kind: Kind, next: KubeObject, live: KubeObject): void {
  const causes = [...fixed.flatMap((field) => fixedCauses(field, next, live)), ...finalizerCauses(next, live)];
  if (causes.length > 0) {
    throw invalid(kind, live.metadata?.name ?? '', causes);
  }
}

function fixedCauses(field: (typeof fixed)[number], next: KubeObject, live: KubeObject): readonly Cause[] {
  const value = next.metadata?.[field];
  const message = `Invalid value: ${JSON.stringify(value ?? null)}: field is immutable`;
  return value === live.metadata?.[field] ? [] : [{ reason: 'FieldValueInvalid', message, field: `metadata.${field}` }];
}

function finalizerCauses({ metadata: next }: KubeObject, { metadata: live }: KubeObject): readonly Cause[] {
  if (live?.deletionTimestamp === undefined) {
    return [];
  }
  const added = (next?.finalizers ?? []).filter((finalizer) => live.finalizers?.includes(finalizer) !== true);
  const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
  return added.length === 0 ? [] : [{ reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }];
}
