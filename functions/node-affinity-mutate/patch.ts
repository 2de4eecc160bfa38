import type { AddOperation } from 'fast-json-patch';
import { pointer } from '../../lib/kube/model/plan.ts';
import { includesExpression, preferredField, requiredField, type Placement } from './placement.ts';
import type { Expression, Toleration } from './rule.ts';
import { isRecord } from '../../lib/base/json.ts';
import { listOf } from './shape.ts';

/** What rules add to a pod. */
export interface Additions {
  readonly preferred: readonly PreferredTerm[];
  /** Holds for every way in which the pod may be placed. */
  readonly required: readonly Expression[];
  readonly tolerations: readonly Toleration[];
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PreferredTerm {
  readonly weight: number;
  readonly preference: { readonly matchExpressions: readonly Expression[] };
}

/**
 * A patch that surely applies: `add` only, and only below what the pod was seen to have. Several additions to an absent
 * parent are one addition of that parent, as two would erase each other.
 */
export function patchOf(placement: Placement, additions: Additions): AddOperation<unknown>[] {
  return [
    ...affinityOperations(placement, additions),
    ...listOperations(tolerationsPath, placement.tolerations, additions.tolerations),
    ...annotationOperations(placement, additions.annotations),
  ];
}

const tolerationsPath = pointer('spec', 'tolerations');
const affinityPath = pointer('spec', 'affinity');
const nodeAffinityPath = pointer('spec', 'affinity', 'nodeAffinity');
const preferredPath = nodeAffinityPath + pointer(preferredField);
const requiredPath = nodeAffinityPath + pointer(requiredField);
const termsPath = requiredPath + pointer('nodeSelectorTerms');

function affinityOperations(placement: Placement, { preferred, required }: Additions): AddOperation<unknown>[] {
  if (preferred.length === 0 && required.length === 0) {
    return [];
  }
  if (placement.nodeAffinity === undefined) {
    const nodeAffinity = {
      ...(required.length === 0 ? {} : { [requiredField]: { nodeSelectorTerms: [{ matchExpressions: required }] } }),
      ...(preferred.length === 0 ? {} : { [preferredField]: preferred }),
    };
    return placement.affinity === undefined
      ? [add(affinityPath, { nodeAffinity })]
      : [add(nodeAffinityPath, nodeAffinity)];
  }
  return [
    ...(required.length === 0 ? [] : requiredOperations(placement, required)),
    ...listOperations(preferredPath, placement.preferred, preferred),
  ];
}

/** Terms are alternatives, so the expression joins each; an empty one matches nothing and must go on doing so. */
function requiredOperations({ required, requiredTerms }: Placement, wanted: readonly Expression[]) {
  if (requiredTerms === undefined) {
    const terms = [{ matchExpressions: wanted }];
    return [required === undefined ? add(requiredPath, { nodeSelectorTerms: terms }) : add(termsPath, terms)];
  }
  return requiredTerms.flatMap((term, index) => {
    const expressions = expressionsOf(term);
    if (expressions === undefined) {
      return [];
    }
    const missing = wanted.filter((expression) => !includesExpression(expressions, expression));
    const path = `${termsPath}/${index}/matchExpressions`;
    return listOperations(path, expressions.length === 0 ? undefined : expressions, missing);
  });
}

/** The expressions of a term; `undefined` for a term that is empty or unreadable and so stays as it is. */
function expressionsOf(term: unknown): readonly unknown[] | undefined {
  if (!isRecord(term)) {
    return undefined;
  }
  const fields = listOf(term['matchFields']) ?? [];
  const { matchExpressions = null } = term;
  const expressions = matchExpressions === null ? [] : listOf(matchExpressions);
  return expressions === undefined || fields.length + expressions.length === 0 ? undefined : expressions;
}

/** Whether a required expression would change anything. */
export function lacks({ requiredTerms }: Placement, wanted: Expression): boolean {
  return (
    requiredTerms?.some((term) => {
      const expressions = expressionsOf(term);
      return expressions !== undefined && !includesExpression(expressions, wanted);
    }) ?? true
  );
}

function listOperations(
  path: string,
  present: readonly unknown[] | undefined,
  added: readonly unknown[],
): AddOperation<unknown>[] {
  if (added.length === 0) {
    return [];
  }
  return present === undefined ? [add(path, added)] : added.map((item) => add(`${path}/-`, item));
}

function annotationOperations(
  { annotations }: Placement,
  added: Readonly<Record<string, string>>,
): AddOperation<unknown>[] {
  const entries = Object.entries(added);
  if (entries.length === 0) {
    return [];
  }
  return annotations === undefined
    ? [add(pointer('metadata', 'annotations'), added)]
    : entries.map(([key, value]) => add(pointer('metadata', 'annotations', key), value));
}

function add(path: string, value: unknown): AddOperation<unknown> {
  return { op: 'add', path, value };
}
