import type { Resource } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import type { Exception } from './exception.ts';
import type { Done } from './hold/act.ts';
import { asksFor } from './hold/claims.ts';
import { isOwner, type Holder } from './hold/plan.ts';
import type { Unread } from './hold/sources.ts';
import type { Observed } from './observe.ts';
import type { Unreadable } from './policies.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type DenyKind } from './policy.ts';
import type { Rule } from './rule.ts';
import { exceptionState, ruleState } from './state.ts';
import type { Findings } from './status.ts';

interface Course {
  readonly done: readonly Done[];
  readonly now: number;
  readonly settings: Pick<Config, 'EXEMPT_AUTOSCALERS'>;
}

/** What is to be told about each policy, given what became of the objects that it may hold. */
export function findingsOf(observed: Observed, course: Course): readonly Findings[] {
  const { rules, exceptions, unreadable, unread } = observed;
  return [
    ...rules.map((rule) => ({ ...aboutRule(rule, course), ...(isPartial(rule, unread) ? countedBefore(rule) : {}) })),
    ...exceptions.map((exception) => aboutException(exception, course.now)),
    ...unreadable.map(aboutUnreadable),
  ];
}

function aboutRule(rule: Rule, { done, now, settings }: Course): Findings {
  const { kind, policy, problems } = rule;
  const { enforcement = 'Enforce', rules, behavior } = policy.spec;
  const paused = done.filter((one) => one.kind.family === 'GitOps' && holds(rule, one));
  return {
    kind,
    policy,
    resource: resourceOf(kind),
    state: ruleState(rule, now),
    problems,
    blocksAutoscalers: enforcement === 'Enforce' && rules.deny.includes('SCALE') && !settings.EXEMPT_AUTOSCALERS,
    ...(behavior?.gitops?.enabled === true || paused.length > 0
      ? { pausedCount: paused.length, contested: paused.flatMap(contest) }
      : {}),
  };
}

function resourceOf(kind: DenyKind): Resource {
  return kind === 'ChangeFreeze' ? changeFreezes : maintenanceWindows;
}

/** As for admission: a freeze that nobody can read is on, windows are closed. */
function aboutUnreadable({ kind, policy, why }: Unreadable): Findings {
  return {
    kind,
    policy,
    resource: resourceOf(kind),
    state: { active: kind === 'ChangeFreeze', denying: true, since: undefined, until: undefined },
    problems: [{ reason: 'EvaluationFailed', message: `${why}; until this is mended nothing that is held is let go` }],
  };
}

function isPartial(rule: Rule, unread: readonly Unread[]): boolean {
  return unread.some(({ kind }) => kind.family === 'GitOps' && asksFor(kind, rule));
}

/** What can't be seen now is told as it was last seen. */
function countedBefore({ policy }: Rule): Pick<Findings, 'pausedCount' | 'countsAsBefore'> {
  const { gitopsPausedCount: pausedCount } = policy.status ?? {};
  return { countsAsBefore: true, ...(pausedCount === undefined ? {} : { pausedCount }) };
}

function aboutException(exception: Exception, now: number): Findings {
  const { policy, problems } = exception;
  return {
    kind: 'FreezeException',
    policy,
    resource: freezeExceptions,
    state: exceptionState(exception, now),
    problems,
  };
}

/** Whether the policy holds the object now: a step that failed, or was not taken, leaves things as they were. */
function holds(rule: Holder, { kind, object, before, after, isWithheld = false, failure }: Done): boolean {
  const holder = failure !== undefined || isWithheld ? before : after;
  // What was written down and never stopped is not held.
  const isHeld = failure === undefined || kind.isStill(object);
  return holder !== undefined && isOwner(rule, holder) && isHeld;
}

function contest({ kind, object }: Done): string[] {
  const by = kind.contestedBy?.(object);
  return by === undefined ? [] : [`${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''} (${by})`];
}
