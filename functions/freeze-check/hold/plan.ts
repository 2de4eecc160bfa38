import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type PatchStep } from '../../../lib/kube/model/plan.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { DenyKind } from '../policy.ts';
import type { Rule } from '../rule.ts';
import type { Labels } from '../target.ts';
import { claimsOn, wanting } from './claims.ts';
import { annotation, annotationOf, type Change, type HeldKind, type Owner } from './kind.ts';
import { recall, type Ledger } from './ledger.ts';

/** A policy as the holder of objects. */
export type Holder = Pick<Rule, 'kind' | 'name' | 'policy'>;

/** What is to become of one object. */
export interface Decision {
  readonly kind: HeldKind;
  readonly object: KubeObject;
  /** Who held it when it was read. */
  readonly before: Owner | undefined;
  /** Who holds it after the step; nobody when it is let go. */
  readonly after: Holder | undefined;
  /** What marks it afterwards; absent when it is let go. */
  readonly marks?: Readonly<Record<string, string>>;
  /** Absent when all is as it should be. */
  readonly step?: PatchStep;
  /** It should be let go, and is not yet. */
  readonly isWithheld?: boolean;
}

/** What else a decision goes by. */
export interface Circumstances {
  readonly denying: readonly Rule[];
  /** The labels of each namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly ledger: Ledger;
}

/** Decides about every object, of those of which somebody wants or has something. */
export function decideHolds(
  { kind, objects }: { readonly kind: HeldKind; readonly objects: readonly KubeObject[] },
  { denying, namespaces, ledger }: Circumstances,
): readonly Decision[] {
  const claims = claimsOn(kind, denying);
  return objects.flatMap((object) => {
    const { namespace = '', labels = {}, deletionTimestamp } = object.metadata ?? {};
    const namespaceLabels = namespaces.get(namespace);
    // What is about to go, alone or with its namespace, is left in peace.
    if (namespaceLabels === undefined || deletionTimestamp !== undefined) {
      return [];
    }
    return decideHold(kind, object, wanting(claims, labels, namespaceLabels), recall(ledger, object)) ?? [];
  });
}

/**
 * Decides about an object that the `holders` want, the first in precedence first. One patch does all or nothing,
 * so that a death between two writes leaves no object half held; what was noted before the first touch is never noted
 * again while it is held. `marked` is the object with the marks that it was given, if others took some away.
 */
export function decideHold(
  kind: HeldKind,
  object: KubeObject,
  holders: readonly Holder[],
  marked: KubeObject = object,
): Decision | undefined {
  const before = ownerOf(kind, marked);
  const after = holders.find((holder) => before !== undefined && isOwner(holder, before)) ?? holders[0];
  const about = { kind, object, before, after };
  if (after === undefined) {
    return before && decision(about, release(kind, marked), `released by ${text(before)}`);
  }
  if (before === undefined) {
    const change = merge(kind.stop(object, after.policy), marks(kind, after));
    return decision({ ...about, marks: marksAfter(kind, marked, change) }, change, `held by ${text(after)}`);
  }
  const handover = isOwner(after, before) ? nothing : marks(kind, after);
  const again = kind.isStill(object) ? nothing : kind.stopAgain(object, after.policy);
  const change = merge(merge(lost(kind, object, marked), again), handover);
  return decision({ ...about, marks: marksAfter(kind, marked, change) }, change, `still held by ${text(after)}`);
}

/** Puts marks back that somebody took away, unless they would go again at once. */
function lost(kind: HeldKind, object: KubeObject, marked: KubeObject): Change {
  return kind.contestedBy?.(object) === undefined
    ? { operations: [], annotations: marksAfter(kind, marked, nothing) }
    : nothing;
}

/** All that marks an object of the kind once the change is done. */
function marksAfter(kind: HeldKind, { metadata }: KubeObject, { annotations }: Change): Record<string, string> {
  const keys = [annotation.managed, kind.ownerAnnotation, annotation.ownerKind, kind.noteAnnotation];
  const all = { ...metadata?.annotations, ...annotations };
  return Object.fromEntries(keys.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
}

/** Who holds the object by its annotations. A note alone is a promise too: it is never overwritten, and kept in the end. */
export function ownerOf({ ownerAnnotation, noteAnnotation }: Marking, object: KubeObject): Owner | undefined {
  const name = annotationOf(object, ownerAnnotation);
  const kind = annotationOf(object, annotation.ownerKind);
  const isMarked = name !== undefined || annotationOf(object, noteAnnotation) !== undefined;
  return isMarked ? { name: name ?? '', kind: isDenyKind(kind) ? kind : undefined } : undefined;
}

type Marking = Pick<HeldKind, 'ownerAnnotation' | 'noteAnnotation'>;

export function isOwner({ kind, name }: Pick<Holder, 'kind' | 'name'>, owner: Owner): boolean {
  return name === owner.name && (owner.kind === undefined || owner.kind === kind);
}

function isDenyKind(kind: string | undefined): kind is DenyKind {
  return kind === 'ChangeFreeze' || kind === 'MaintenanceWindow';
}

const nothing: Change = { operations: [], annotations: {} };

function merge(one: Change, other: Change): Change {
  return {
    operations: [...one.operations, ...other.operations],
    annotations: { ...one.annotations, ...other.annotations },
  };
}

/** The annotations that make the policy the owner. */
function marks({ ownerAnnotation }: Pick<HeldKind, 'ownerAnnotation'>, { kind, name }: Holder): Change {
  const managed = ownerAnnotation === annotation.owner ? { [annotation.managed]: 'true' } : {};
  return {
    operations: [],
    annotations: { ...managed, [ownerAnnotation]: name, [annotation.ownerKind]: kind },
  };
}

function release(kind: HeldKind, object: KubeObject): Change {
  const gone = {
    [annotation.managed]: undefined,
    [kind.ownerAnnotation]: undefined,
    [annotation.ownerKind]: undefined,
  };
  return merge(kind.restore(object), { operations: [], annotations: gone });
}

function decision(about: Omit<Decision, 'step'>, change: Change, why: string): Decision {
  const operations = [...change.operations, ...annotate(about.object, change.annotations)];
  const { name = '', namespace } = about.object.metadata ?? {};
  if (operations.length === 0) {
    return about;
  }
  const step: PatchStep = {
    do: 'patch',
    resource: about.kind.resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    operations: [unchanged(about.object), ...operations],
    why,
  };
  return { ...about, step };
}

/** Sets and drops annotations; a map that we made goes with the last of ours, so that nothing of us stays behind. */
function annotate({ metadata }: KubeObject, wanted: Change['annotations']): Operation[] {
  const path = pointer('metadata', 'annotations');
  const { annotations } = metadata ?? {};
  const differing = Object.entries(wanted).filter(([key, value]) => annotations?.[key] !== value);
  const result = Object.fromEntries(
    Object.entries({ ...annotations, ...wanted }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (differing.length === 0) {
    return [];
  }
  if (annotations === undefined) {
    return [{ op: 'add', path, value: result }];
  }
  if (Object.keys(result).length === 0) {
    return [{ op: 'remove', path }];
  }
  return differing.map(([key, value]) =>
    value === undefined
      ? { op: 'remove', path: pointer('metadata', 'annotations', key) }
      : { op: 'add', path: pointer('metadata', 'annotations', key), value },
  );
}

function text({ kind, name }: Owner): string {
  if (name === '') {
    return 'a policy whose name is lost';
  }
  return kind === undefined ? name : `${kind}/${name}`;
}
