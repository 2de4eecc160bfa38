import { compareText } from '../../lib/base/order.ts';
import { matches } from '../../lib/kube/model/selector.ts';
import type { Change } from './change.ts';
import { enforcementIn } from './enforcement.ts';
import type { Exception } from './exception.ts';
import type { Policies } from './policies.ts';
import type { Action, Constraints } from './policy.ts';
import type { Rule } from './rule.ts';
import { covers, coversPlace, type Labels } from './target.ts';

/** Who wants to change what, where and when. */
export interface Question {
  readonly change: Pick<Change, 'kind' | 'actions'> & {
    readonly labels: Labels;
    /** Of an update. */
    readonly labelsBefore?: Labels;
  };
  readonly namespaceLabels: Labels;
  readonly user: string;
  readonly groups: readonly string[];
  readonly now: number;
  /** A rollout to what the workload was before. */
  readonly goesBack?: boolean;
}

/** A policy that is against a change, and what of it. */
export interface Objection {
  readonly rule: Rule;
  readonly actions: readonly Action[];
  /** When this policy would let the change pass. */
  readonly nextAllowed: number | undefined;
}

export interface Decision {
  /** The policies that refuse, the one to name first. Without an exception the change is denied unless this is empty. */
  readonly objections: readonly Objection[];
  /** What overrides them. */
  readonly exception?: Exception;
  /** Policies that would refuse if they were enforced. */
  readonly warnings: readonly Objection[];
  readonly audits: readonly Objection[];
  /** The freezes that are about to begin for this workload. */
  readonly upcoming: readonly Rule[];
  /** All that may ever refuse this. */
  readonly enforced: readonly Rule[];
}

/** Whether a change may pass. Reads what policies say and the clock, never what their status tells. */
export function decide(question: Question, { rules, exceptions }: Policies, warnAheadMs: number): Decision {
  const concerned = rules.filter((rule) => concerns(rule, question));
  const by = Map.groupBy(concerned, ({ policy }) => enforcementIn(policy, question.namespaceLabels));
  const { Enforce: enforced = [], Warn: warning = [], Audit: watching = [] } = Object.fromEntries(by);
  const objections = objectionsOf(enforced, question).sort(byUrgency);
  const exception = objections.length === 0 ? undefined : exceptionFor(question, objections, exceptions);
  return {
    objections,
    ...(exception === undefined ? {} : { exception }),
    warnings: objectionsOf(warning, question),
    audits: objectionsOf(watching, question),
    upcoming: [...enforced, ...warning].filter((rule) => beginsWithin(rule, question.now, warnAheadMs)),
    enforced,
  };
}

/** Whether a policy denies any of this on such a workload, whenever that may be. */
export function concerns(rule: Rule, question: Question): boolean {
  const { change, namespaceLabels } = question;
  const { kind, actions, labels, labelsBefore } = change;
  const { objects } = rule.coverage;
  return (
    actions.some((action) => denies(rule, action, question)) &&
    coversPlace(rule.coverage, { kind, namespaceLabels }) &&
    // A workload that is relabelled stays in the freeze it was in.
    (matches(objects, labels) || (labelsBefore !== undefined && matches(objects, labelsBefore)))
  );
}

function denies({ policy }: Rule, action: Action, { goesBack = false }: Question): boolean {
  const { deny, allowRollback = false } = policy.spec.rules;
  return deny.includes(action) && !(action === 'ROLL_OUT' && goesBack && allowRollback);
}

/** Of those that deny at this moment. */
function objectionsOf(rules: readonly Rule[], question: Question): Objection[] {
  const { change, now } = question;
  return rules
    .filter((rule) => rule.denying(now).on)
    .map((rule) => ({
      rule,
      actions: change.actions.filter((action) => denies(rule, action, question)),
      nextAllowed: rule.turnAfter(now),
    }));
}

/** What ends first is named first, then by name; of two with one name the freeze. */
function byUrgency(a: Objection, b: Objection): number {
  const [soonest, later] = [a.nextAllowed ?? Infinity, b.nextAllowed ?? Infinity];
  if (soonest !== later) {
    return soonest - later;
  }
  return compareText(a.rule.name, b.rule.name) || compareText(a.rule.kind, b.rule.kind);
}

/** The first by name of the exceptions that allow all that is denied. It overrides every policy at once. */
function exceptionFor(
  question: Question,
  objections: readonly Objection[],
  exceptions: readonly Exception[],
): Exception | undefined {
  const denied = new Set(objections.flatMap(({ actions }) => actions));
  return exceptions
    .filter((exception) => applies(exception, question, denied))
    .reduce<Exception | undefined>(
      (first, each) => (first === undefined || each.name < first.name ? each : first),
      undefined,
    );
}

function applies({ policy, coverage, active }: Exception, question: Question, denied: ReadonlySet<Action>): boolean {
  const { change, namespaceLabels, now } = question;
  const { kind, labels } = change;
  const { allow, constraints = {} } = policy.spec;
  return (
    active(now).on &&
    [...denied].every((action) => allow.includes(action)) &&
    covers(coverage, { kind, namespaceLabels, labels }) &&
    meets(constraints, question)
  );
}

/** Constraints add up: a list of users and one of groups must both be met. */
function meets(
  { requireLabels = {}, allowedUsers = [], allowedGroups = [] }: Constraints,
  { change: { labels }, user, groups }: Question,
): boolean {
  return (
    Object.entries(requireLabels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value) &&
    (allowedUsers.length === 0 || allowedUsers.includes(user)) &&
    (allowedGroups.length === 0 || allowedGroups.some((group) => groups.includes(group)))
  );
}

/** Windows close every day and nobody is surprised; a freeze is worth a warning. */
function beginsWithin({ kind, denying }: Rule, now: number, aheadMs: number): boolean {
  const { on, until } = denying(now);
  return kind === 'ChangeFreeze' && !on && until <= now + aheadMs;
}

/** What a refusal is about: the first denied action in the order of the change, and the policy to name for it. */
export function headline(
  { actions }: Question['change'],
  objections: readonly Objection[],
): { readonly action: Action; readonly objection: Objection } | undefined {
  for (const action of actions) {
    const objection = objections.find((each) => each.actions.includes(action));
    if (objection !== undefined) {
      return { action, objection };
    }
  }
  return undefined;
}
