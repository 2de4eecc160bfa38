import type { Expression, Toleration } from './rule.ts';
import { isAbsent, listOf } from './shape.ts';
import { isRecord, recordOf, type Fields } from '../../lib/base/json.ts';

/** What a pod says about where it wants to run; what is absent, null or empty in the pod is `undefined` here. */
export interface Placement {
  readonly affinity: Fields | undefined;
  readonly nodeAffinity: Fields | undefined;
  readonly preferred: readonly unknown[] | undefined;
  readonly required: Fields | undefined;
  readonly requiredTerms: readonly unknown[] | undefined;
  readonly tolerations: readonly unknown[] | undefined;
  readonly annotations: Fields | undefined;
}

export const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution';
export const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Reads a pod; `undefined` where something on the way is not of the type that the API server expects. */
export function placementOf(pod: Fields): Placement | undefined {
  const seen = { odd: false };

  function objectAt(parent: Fields | undefined, key: string): Fields | undefined {
    const value = parent?.[key];
    seen.odd ||= !isAbsent(value) && !isRecord(value);
    return recordOf(value);
  }

  function listAt(parent: Fields | undefined, key: string): readonly unknown[] | undefined {
    const value = parent?.[key];
    const list = listOf(value);
    seen.odd ||= !isAbsent(value) && list === undefined;
    return list?.length === 0 ? undefined : list;
  }

  const spec = objectAt(pod, 'spec');
  const affinity = objectAt(spec, 'affinity');
  const nodeAffinity = objectAt(affinity, 'nodeAffinity');
  const required = objectAt(nodeAffinity, requiredField);
  const metadata = objectAt(pod, 'metadata');
  const placement = {
    affinity,
    nodeAffinity,
    preferred: listAt(nodeAffinity, preferredField),
    required,
    requiredTerms: listAt(required, 'nodeSelectorTerms'),
    tolerations: listAt(spec, 'tolerations'),
    annotations: objectAt(metadata, 'annotations'),
  };
  // Whatever is added goes below these two.
  return seen.odd || spec === undefined || metadata === undefined ? undefined : placement;
}

/** Whether one of the preferences is exactly for these nodes. With which weight is its own business. */
export function prefers(preferences: readonly unknown[], wanted: readonly Expression[]): boolean {
  return preferences.some((item) => isRecord(item) && isSameTerm(item['preference'], wanted));
}

function isSameTerm(term: unknown, wanted: readonly Expression[]): boolean {
  if (!isRecord(term) || (listOf(term['matchFields']) ?? []).length > 0) {
    return false;
  }
  const expressions = listOf(term['matchExpressions']) ?? [];
  return (
    expressions.length === wanted.length && wanted.every((expression) => includesExpression(expressions, expression))
  );
}

export function includesExpression(expressions: readonly unknown[], wanted: Expression): boolean {
  return expressions.some((expression) => isRecord(expression) && isSameExpression(expression, wanted));
}

function isSameExpression(expression: Fields, { key, operator, values = [] }: Expression): boolean {
  return (
    expression['key'] === key &&
    expression['operator'] === operator &&
    isSameSet(listOf(expression['values']) ?? [], values)
  );
}

function isSameSet(some: readonly unknown[], others: readonly string[]): boolean {
  return others.every((value) => some.includes(value)) && some.every((value) => others.includes(value as string));
}

export function tolerates(tolerations: readonly unknown[], wanted: Toleration): boolean {
  return tolerations.some((toleration) => isRecord(toleration) && isSameToleration(toleration, wanted));
}

function isSameToleration(one: Fields, other: Toleration): boolean {
  return (
    one['key'] === other.key &&
    (one['operator'] ?? 'Equal') === (other.operator ?? 'Equal') &&
    (one['value'] ?? '') === (other.value ?? '') &&
    one['effect'] === other.effect &&
    one['tolerationSeconds'] === other.tolerationSeconds
  );
}

/** Every way in which the pod may be placed names its node: a preference among nodes would be dead weight. */
export function isNameBound({ requiredTerms = [] }: Placement): boolean {
  return requiredTerms.length > 0 && requiredTerms.every((term) => isRecord(term) && namesNode(term));
}

function namesNode(term: Fields): boolean {
  return (listOf(term['matchFields']) ?? []).some(
    (field) => isRecord(field) && field['key'] === 'metadata.name' && field['operator'] === 'In',
  );
}
