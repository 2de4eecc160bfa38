import type { KubeObject, Metadata } from '../kube/wire.ts';
import type { Kind } from './kinds.ts';
import { type Cause, invalid } from './status.ts';

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

export function assertUnchangedIdentity(kind: Kind, next: KubeObject, live: KubeObject): void {
  const causes = fixed.flatMap((field): Cause[] => {
    const value = next.metadata?.[field];
    return value === live.metadata?.[field]
      ? []
      : [
          {
            reason: 'FieldValueInvalid',
            message: `Invalid value: ${JSON.stringify(value ?? null)}: field is immutable`,
            field: `metadata.${field}`,
          },
        ];
  });
  if (causes.length > 0) {
    throw invalid(kind, live.metadata?.name ?? '', causes);
  }
}
