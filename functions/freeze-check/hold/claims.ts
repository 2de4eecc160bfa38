import { compareText } from '../../../lib/base/order.ts';
import { matches, soundRequirements, type LabelSelector, type Selector } from '../../../lib/kube/model/selector.ts';
import { enforcementIn } from '../enforcement.ts';
import { attempt } from '../problem.ts';
import type { Rule } from '../rule.ts';
import type { Labels } from '../target.ts';
import type { HeldKind } from './kind.ts';

/** A policy that asks for objects of a kind. */
export interface Claim {
  readonly rule: Rule;
  readonly namespaces: Selector;
  readonly objects: Selector;
}

/** Whether the policy asks for objects of the kind whenever it denies. */
export function asksFor(kind: HeldKind, { policy }: Rule): boolean {
  return kind.selectedBy(policy) !== undefined;
}

/** The claims on a kind by these policies, the first in precedence first. A selector that says nothing sound claims nothing. */
export function claimsOn(kind: HeldKind, denying: readonly Rule[]): readonly Claim[] {
  return denying.toSorted(byPrecedence).flatMap((rule) => {
    const { namespaceSelector, objectSelector } = kind.selectedBy(rule.policy) ?? {};
    const namespaces = readSelector(namespaceSelector);
    const objects = readSelector(objectSelector);
    const isClaim = asksFor(kind, rule) && namespaces !== undefined && objects !== undefined;
    return isClaim ? [{ rule, namespaces, objects }] : [];
  });
}

/** The policies that want an object with these labels in such a namespace. Where one only warns, it holds nothing. */
export function wanting(claims: readonly Claim[], labels: Labels, namespaceLabels: Labels): readonly Rule[] {
  return claims
    .filter(({ namespaces, objects }) => matches(namespaces, namespaceLabels) && matches(objects, labels))
    .map(({ rule }) => rule)
    .filter(({ policy }) => enforcementIn(policy, namespaceLabels) === 'Enforce');
}

/** By name; a freeze before windows of the same name. */
function byPrecedence(a: Rule, b: Rule): number {
  return compareText(a.name, b.name) || compareText(a.kind, b.kind);
}

function readSelector(selector: LabelSelector = {}): Selector | undefined {
  return attempt(
    () => soundRequirements(selector),
    () => undefined,
  );
}
