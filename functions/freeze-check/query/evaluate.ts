import type { Context } from '../../../lib/function/definition.ts';
import {
  cronJobs,
  daemonSets,
  deployments,
  statefulSets,
  type Namespace,
  type Resource,
} from '../../../lib/kube/model/resource.ts';
import { quote } from '../../../lib/base/quote.ts';
import { formatInstant } from '../../../lib/time/instant.ts';
import { createClearing, type Clearing } from '../clearing.ts';
import { exemptionOf, placeExemption, type Exemption, type PlaceExemption } from '../callers.ts';
import type { Config } from '../config.ts';
import { concerns, decide, type Objection, type Question } from '../decide.ts';
import { enforcementIn } from '../enforcement.ts';
import type { Exception } from '../exception.ts';
import { nextTurn } from '../intervals.ts';
import { reasonOf } from '../message.ts';
import type { Policies } from '../policies.ts';
import type { Action, TargetKind } from '../policy.ts';
import type { Rule } from '../rule.ts';
import { currentClearing, currentNamespace, currentPolicies } from '../snapshot.ts';
import { coversPlace, type Labels } from '../target.ts';
import type { Query } from './query.ts';
import { withSupposed } from './supposed.ts';

/** What the query API says. The fields up to `freezeEndTime` are those of kube-freeze-operator. */
export interface Answer {
  readonly allow: boolean;
  readonly evaluatedAt: string;
  readonly reason?: string;
  readonly matchedPolicy?: string;
  readonly policyKind?: string;
  readonly nextAllowedTime?: string;
  readonly freezeEndTime?: string;
  /** Why no policy is asked, if so. */
  readonly bypass?: Exemption | PlaceExemption;
  readonly exception?: string;
  readonly blocking?: readonly { readonly kind: string; readonly name: string; readonly nextAllowedTime?: string }[];
  /** When no policy at all is in the way. */
  readonly clearAt?: string;
  /** When the answer may become another. */
  readonly nextTransition?: string;
  /** Policies that would make it another answer for some labels, which the question did not tell. */
  readonly undetermined?: readonly { readonly kind: string; readonly name: string }[];
}

const resources: Readonly<Record<TargetKind, Resource>> = {
  Deployment: deployments,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  CronJob: cronJobs,
};

/** Answers as admission would. Throws when the cluster can't be read. */
export async function evaluate(query: Query, context: Context<Config>): Promise<Answer> {
  const { namespace, user, groups, action, at = context.now().getTime() } = query;
  const caller = { username: user, groups: [...groups] };
  const place = await currentNamespace(context, namespace);
  if (place === undefined) {
    throw new Error(`namespace ${quote(namespace)} not found`);
  }
  const bypass = exemptionOf(caller, action === 'SCALE', context) ?? placeExemption(place, context);
  return bypass === undefined
    ? evaluateIn(place, { ...query, at }, context)
    : { allow: true, evaluatedAt: formatInstant(at), bypass };
}

async function evaluateIn(
  place: Namespace,
  query: Query & { readonly at: number },
  context: Context<Config>,
): Promise<Answer> {
  const { kind, action, user, groups, at } = query;
  const [applied, labels] = await Promise.all([currentPolicies(context), labelsOf(query, context)]);
  const namespaceLabels = place.metadata?.labels ?? {};
  const question: Question = {
    change: { kind, actions: [action], labels: labels ?? {} },
    namespaceLabels,
    user,
    groups,
    now: at,
  };
  const [policies, clear] =
    query.policies === undefined
      ? [applied, currentClearing(context)]
      : [withSupposed(applied, query.policies), createClearing()];
  if (labels !== undefined) {
    return answerOf(question, policies, clear);
  }
  const answer = answerOf(question, withoutSelectors(policies), clear);
  const unknown = undeterminedOf(question, policies, answer.allow);
  return { ...answer, ...(unknown.length === 0 ? {} : { undetermined: unknown }) };
}

/** As given, else of the workload of that name; `undefined` where neither tells. */
async function labelsOf(
  { labels, name, kind, namespace }: Query,
  { kube }: Context<Config>,
): Promise<Labels | undefined> {
  if (labels !== undefined || name === undefined) {
    return labels;
  }
  const workload = await kube.get(resources[kind], { namespace, name });
  return workload === undefined ? undefined : (workload.metadata?.labels ?? {});
}

function answerOf(question: Question, policies: Policies, clear: Clearing): Answer {
  const { objections, exception, enforced } = decide(question, policies, 0);
  const [first] = objections;
  const allow = first === undefined || exception !== undefined;
  const clearAt = allow ? undefined : clear(enforced, question.now);
  const next = nextTransition(question, policies);
  return {
    allow,
    evaluatedAt: formatInstant(question.now),
    ...(first === undefined || allow ? {} : refusalOf(first)),
    ...(exception === undefined ? {} : { exception: exception.name }),
    ...(objections.length === 0 ? {} : { blocking: objections.map(blockOf) }),
    ...time('clearAt', clearAt),
    ...time('nextTransition', next),
  };
}

function refusalOf({ rule, nextAllowed }: Objection): Partial<Answer> {
  return {
    reason: reasonOf(rule),
    matchedPolicy: rule.name,
    policyKind: rule.kind,
    ...time('nextAllowedTime', nextAllowed),
    ...(rule.kind === 'ChangeFreeze' ? time('freezeEndTime', nextAllowed) : {}),
  };
}

function blockOf({ rule: { kind, name }, nextAllowed }: Objection): {
  kind: string;
  name: string;
  nextAllowedTime?: string;
} {
  return { kind, name, ...time('nextAllowedTime', nextAllowed) };
}

function time<Field extends string>(field: Field, instant: number | undefined): Partial<Record<Field, string>> {
  return (instant === undefined ? {} : { [field]: formatInstant(instant) }) as Partial<Record<Field, string>>;
}

/** The first time that a policy which concerns the question turns, or an exception begins or ends. */
function nextTransition(question: Question, { rules, exceptions }: Policies): number | undefined {
  const turns = [
    ...rules.filter((rule) => concerns(rule, question)).map((rule) => rule.turnAfter(question.now)),
    ...exceptions
      .filter(({ coverage }) => coversPlace(coverage, { ...question.change, ...question }))
      .map(({ active }) => nextTurn(active, question.now).at),
  ].filter((turn) => turn !== undefined);
  return turns.length === 0 ? undefined : Math.min(...turns);
}

function withoutSelectors({ rules, exceptions }: Policies): Policies {
  return {
    rules: rules.filter((rule) => !selects(rule)),
    exceptions: exceptions.filter((exception) => !selects(exception)),
  };
}

/** Whether labels decide if it is about a workload. */
function selects({ coverage, policy: { spec } }: Pick<Rule | Exception, 'coverage' | 'policy'>): boolean {
  const required = 'constraints' in spec ? Object.keys(spec.constraints.requireLabels ?? {}) : [];
  return coverage.objects.length > 0 || required.length > 0;
}

/** The policies that would turn the answer into another if their selectors match. */
function undeterminedOf(
  { change: { kind, actions }, namespaceLabels, now }: Question,
  { rules, exceptions }: Policies,
  allowed: boolean,
): readonly { readonly kind: string; readonly name: string }[] {
  function maySelect(each: Rule | Exception): boolean {
    return selects(each) && coversPlace(each.coverage, { kind, namespaceLabels });
  }
  const refusing = rules.filter(
    (rule) =>
      maySelect(rule) &&
      rule.denying(now).on &&
      isAbout(rule.policy.spec.rules.deny, actions) &&
      enforcementIn(rule.policy, namespaceLabels) === 'Enforce',
  );
  // An exception matters only to what may be refused.
  const excusing =
    allowed && refusing.length === 0
      ? []
      : exceptions.filter((each) => maySelect(each) && each.active(now).on && isAbout(each.policy.spec.allow, actions));
  return [
    ...refusing.map((rule) => ({ kind: rule.kind, name: rule.name })),
    ...excusing.map(({ name }) => ({ kind: 'FreezeException', name })),
  ];
}

function isAbout(listed: readonly Action[], asked: readonly Action[]): boolean {
  return asked.some((action) => listed.includes(action));
}
