import { formatInstant } from '../../lib/time/instant.ts';
import { nextStart, nextTurn } from './intervals.ts';
import type { Exception } from './exception.ts';
import type { WindowStatus } from './policy.ts';
import type { Rule } from './rule.ts';
import type { OpenWindow } from './windows.ts';

/** Where a policy stands at an instant: all that its status tells. */
export interface PolicyState {
  /** A freeze or an exception is on; of a MaintenanceWindow, a window is open. */
  readonly active: boolean;
  /** It refuses changes, pauses GitOps and suspends CronJobs. */
  readonly denying: boolean;
  /** When this state began: the start of the freeze or of the open window, the end of the last one; if that is known. */
  readonly since: number | undefined;
  /** When `active` turns, if that is in sight. */
  readonly until: number | undefined;
  readonly activeWindow?: WindowStatus;
  readonly nextWindow?: WindowStatus;
}

export function ruleState(rule: Rule, now: number): PolicyState {
  const { on, from } = rule.denying(now);
  const until = rule.turnAfter(now);
  const isWindow = rule.kind === 'MaintenanceWindow';
  return {
    active: isWindow ? rule.windows.some(({ open }) => open(now).on) : on,
    denying: on,
    since: Number.isFinite(from) ? from : undefined,
    until,
    ...(isWindow ? windowStates(rule.windows, now) : {}),
  };
}

export function exceptionState({ active }: Exception, now: number): PolicyState {
  const { on, from } = active(now);
  return {
    active: on,
    denying: false,
    since: Number.isFinite(from) ? from : undefined,
    until: nextTurn(active, now).at,
  };
}

function windowStates(windows: readonly OpenWindow[], now: number): Pick<PolicyState, 'activeWindow' | 'nextWindow'> {
  const current = windows.find(({ open }) => open(now).on);
  const next = windows
    .flatMap((window) => {
      const start = window.recurs === undefined ? undefined : nextStart(window.recurs.schedule, now);
      return start === undefined ? [] : [{ window, start }];
    })
    .sort((a, b) => a.start - b.start)[0];
  return {
    ...(current === undefined ? {} : { activeWindow: opening(current, current.open(now).from) }),
    ...(next === undefined ? {} : { nextWindow: opening(next.window, next.start) }),
  };
}

function opening({ name, recurs }: OpenWindow, start: number): WindowStatus {
  return { name, startTime: formatInstant(start), endTime: formatInstant(start + (recurs?.durationMs ?? 0)) };
}
