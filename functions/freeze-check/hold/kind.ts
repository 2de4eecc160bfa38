import type { Operation } from 'fast-json-patch';
import type { Resource } from '../../../lib/kube/model/resource.ts';
import type { LabelSelector } from '../../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { DenyKind, DenyPolicy } from '../policy.ts';

/** The annotations that tell who holds an object and what it was before. Users of kube-freeze-operator know them. */
export const annotation = {
  cronJobOwner: 'freeze-operator.io/managed-by',
  managed: 'freeze-operator.io/managed',
  owner: 'freeze-operator.io/managed-by-policy',
  ownerKind: 'freeze-operator.io/managed-by-kind',
  suspend: 'freeze-operator.io/original-suspend',
  autosync: 'freeze-operator.io/original-autosync',
} as const;

/**
 * A kind of object that a freeze holds still. Everything here is pure; who holds what is decided in plan.ts.
 * A further kind is one more file beside cron-job.ts and a line in kinds.ts.
 */
export interface HeldKind<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  /** Under which name policies are told about it. */
  readonly family: 'CronJob' | 'GitOps';
  /** The annotation with the name of the owning policy. */
  readonly ownerAnnotation: string;
  /** The annotation with what was before. */
  readonly noteAnnotation: string;
  /** Which objects the policy asks for while it denies; `undefined` when none of this kind. */
  selectedBy(policy: DenyPolicy): Selection | undefined;
  /** Whether it stands still, whoever stopped it. */
  isStill(object: T): boolean;
  /** Stops it and notes what was before. */
  stop(object: T, policy: DenyPolicy): Change;
  /** Stops once more what somebody has started again in the meantime. */
  stopAgain(object: T, policy: DenyPolicy): Change;
  /** Puts back what was noted. */
  restore(object: T): Change;
  /** Who will undo it, where that can be seen from the object. */
  contestedBy?(object: T): string | undefined;
  /** Others take away annotations that they don't know: what is marked is kept apart as well. */
  readonly losesMarks?: true;
}

export interface Selection {
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
}

/** Part of a patch: operations on the spec, and annotations to set or (with `undefined`) to drop. */
export interface Change {
  readonly operations: readonly Operation[];
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

/**
 * A policy by name. `kind` is absent in what kube-freeze-operator wrote: the name may be of either kind. The name is empty
 * where somebody took it away and left the note.
 */
export interface Owner {
  readonly kind: DenyKind | undefined;
  readonly name: string;
}

export function annotationOf({ metadata }: KubeObject, key: string): string | undefined {
  return metadata?.annotations?.[key];
}
