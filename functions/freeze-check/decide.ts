import type { Change } from './change.ts';
import { enforcementIn } from './enforcement.ts';
import type { Exception } from './exception.ts';
import type { Policies } from './policies.ts';
import type { Action, Constraints } from './policy.ts';
import type { Rule } from './rule.ts';
import { covers, type Labels } from './target.ts';

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
}

/** Whether a change may pass. Reads what policies say and the clock, never what their status tells. */
export function decide(question: Question, { rules, exceptions }: Policies, warnAheadMs: number): Decision {
  const concerned = rules.filter((rule) => concerns(rule, question));
  const against = concerned.flatMap((rule) => objectionOf(rule, question));
  const by = Map.groupBy(against, ({ rule }) => enforcementIn(rule.policy, question.namespaceLabels));
  const objections = (by.get('Enforce') ?? []).sort(byUrgency);
  const exception = objections.length === 0 ? undefined : exceptionFor(question, objections, exceptions);
  return {
    objections,
    ...(exception === undefined ? {} : { exception }),
    warnings: by.get('Warn') ?? [],
    audits: by.get('Audit') ?? [],
    upcoming: concerned.filter(
      (rule) =>
        beginsWithin(rule, question.now, warnAheadMs) &&
        enforcementIn(rule.policy, question.namespaceLabels) !== 'Audit',
    ),
  };
}

/** Whether a policy denies any of this on such a workload, whenever that may be. */
export function concerns(rule: Rule, question: Question): boolean {
  const { kind, labels, labelsBefore } = question.change;
  const { namespaceLabels } = question;
  return (
    deniedBy(rule, question).length > 0 &&
    // A workload that is relabelled stays in the freeze it was in.
    (covers(rule.coverage, { kind, namespaceLabels, labels }) ||
      (labelsBefore !== undefined && covers(rule.coverage, { kind, namespaceLabels, labels: labelsBefore })))
  );
}

function deniedBy({ policy }: Rule, { change, goesBack = false }: Question): readonly Action[] {
  const { deny, allowRollback = false } = policy.spec.rules;
  return change.actions.filter(
    (action) => deny.includes(action) && !(action === 'ROLL_OUT' && goesBack && allowRollback),
  );
}

function objectionOf(rule: Rule, question: Question): readonly Objection[] {
  const { now } = question;
  return rule.denying(now).on ? [{ rule, actions: deniedBy(rule, question), nextAllowed: rule.turnAfter(now) }] : [];
}

/** What ends first is named first, then by name; of two with one name the freeze. */
function byUrgency(a: Objection, b: Objection): number {
  const [soonest, later] = [a.nextAllowed ?? Infinity, b.nextAllowed ?? Infinity];
  if (soonest !== later) {
    return soonest - later;
  }
  return compareText(a.rule.name, b.rule.name) || compareText(a.rule.kind, b.rule.kind);
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
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
