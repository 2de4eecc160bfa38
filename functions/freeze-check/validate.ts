import { quote } from '../../lib/base/quote.ts';
import { formatInstant } from '../../lib/time/instant.ts';
import { firstSkip, parseSchedule } from '../../lib/time/schedule.ts';
import { readException } from './exception.ts';
import { nextStart, nextTurn } from './intervals.ts';
import { malformation } from './kinds/conform.ts';
import type {
  ChangeFreeze,
  ChangeFreezeSpec,
  DenyPolicy,
  FreezeException,
  MaintenanceWindow,
  PolicyKind,
} from './policy.ts';
import { readFreeze, readMaintenanceWindow, type Rule } from './rule.ts';
import type { OpenWindow } from './windows.ts';

/** What is to be said about a policy that somebody writes. */
export interface Review {
  /** Why it is refused. */
  readonly problems: readonly string[];
  /** What is allowed, but hardly meant so. */
  readonly warnings: readonly string[];
}

export interface Circumstances {
  readonly now: number;
  /** Exceptions should not be longer; 0 where they may. */
  readonly longestExceptionMs: number;
  /** The GitOps tools whose objects may be paused here. */
  readonly providers: readonly string[];
}

const yearMs = 366 * 86_400_000;

/** Checks a policy before it is stored: whatever a decision would stumble over is refused. */
export function validate(kind: PolicyKind, policy: object, circumstances: Circumstances): Review {
  const malformed = malformation(kind, policy);
  if (malformed !== undefined) {
    return { problems: [malformed], warnings: [] };
  }
  switch (kind) {
    case 'ChangeFreeze': {
      const freeze = policy as ChangeFreeze;
      const rule = readFreeze(freeze);
      return review(rule, () => [
        ...freezeWarnings(rule, freeze.spec, circumstances.now),
        ...behaviorWarnings(rule.policy, circumstances),
      ]);
    }
    case 'MaintenanceWindow': {
      const rule = readMaintenanceWindow(policy as MaintenanceWindow);
      return review(rule, () => [
        ...windowsWarnings(rule, circumstances),
        ...behaviorWarnings(rule.policy, circumstances),
      ]);
    }
    case 'FreezeException': {
      const exception = readException(policy as FreezeException);
      return review(exception, () => exceptionWarnings(exception.policy, circumstances));
    }
  }
}

function review({ problems }: Pick<Rule, 'problems'>, warnings: () => readonly string[]): Review {
  return problems.length > 0
    ? { problems: problems.map(({ message }) => message), warnings: [] }
    : { problems: [], warnings: warnings() };
}

function freezeWarnings(rule: Rule, { schedule, timezone = '' }: ChangeFreezeSpec, now: number): readonly string[] {
  const { on, from, until } = rule.denying(now);
  if (!on && until === Infinity) {
    return [Number.isFinite(from) ? `the freeze is over since ${formatInstant(from)}` : 'spec.schedule: never begins'];
  }
  if (schedule === undefined) {
    return [];
  }
  if (rule.turnAfter(on ? now : until) === undefined) {
    return ['spec.schedule: the freeze never ends, as it begins again before it is over'];
  }
  const skip = firstSkip(parseSchedule(schedule, timezone), now, now + yearMs);
  return skip === undefined
    ? []
    : [`spec.schedule: the freeze does not begin at ${formatInstant(skip)}, when the clocks go forward`];
}

function windowsWarnings({ windows }: Rule, { now }: Circumstances): readonly string[] {
  const names = windows.map(({ name }) => name);
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...[...new Set(doubled)].map((name) => `spec.windows: there are several of the name ${quote(name)}`),
    ...windows.flatMap((window, index) =>
      windowWarnings(window, now).map((warning) => `spec.windows[${index}]: ${warning}`),
    ),
  ];
}

function windowWarnings({ recurs, open }: OpenWindow, now: number): readonly string[] {
  if (recurs === undefined) {
    return [];
  }
  const { schedule: starts } = recurs;
  const start = nextStart(starts, now);
  if (start === undefined) {
    return ['never opens within the next five years'];
  }
  if (nextTurn(open, start).at === undefined) {
    return ['is always open, as it opens again before it closes'];
  }
  const skip = starts.catchesUp === true ? undefined : firstSkip(starts, now, now + yearMs);
  return skip === undefined
    ? []
    : [`does not open at ${formatInstant(skip)}, when the clocks go forward; onSkipped: NextValid would`];
}

function behaviorWarnings(
  { spec: { behavior = {}, target } }: DenyPolicy,
  { providers }: Circumstances,
): readonly string[] {
  const { suspendCronJobs = false, gitops } = behavior;
  const asked = gitops?.enabled === true ? (gitops.providers ?? []) : [];
  return [
    ...(suspendCronJobs && !target.kinds.includes('CronJob')
      ? ['spec.behavior.suspendCronJobs: has no effect, as spec.target.kinds does not list CronJob']
      : []),
    ...asked
      .filter((name) => gitops?.[name] === undefined)
      .map((name) => `spec.behavior.gitops.${name}: is missing, so nothing of it is paused`),
    ...asked
      .filter((name) => !providers.includes(name))
      .map((name) => `spec.behavior.gitops.providers: ${name} is not in GITOPS_PROVIDERS, so nothing of it is paused`),
  ];
}

function exceptionWarnings({ spec }: FreezeException, { longestExceptionMs }: Circumstances): readonly string[] {
  const lengthMs = Date.parse(spec.activeTo) - Date.parse(spec.activeFrom);
  return longestExceptionMs > 0 && lengthMs > longestExceptionMs
    ? [`the exception lasts ${Math.round(lengthMs / 3_600_000)} h, longer than exceptions should`]
    : [];
}
