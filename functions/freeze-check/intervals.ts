import { startOfDay } from '../../lib/time/cron.ts';
import { chainsOfFirings, firstFiring, lastFiring, type Schedule } from '../../lib/time/schedule.ts';

/** Whether something is on at an instant, and for how long that surely stays so. Times are milliseconds. */
export interface Phase {
  readonly on: boolean;
  /** When this began: while on, the latest start; -Infinity when that is too long ago to matter. */
  readonly from: number;
  /** The earliest instant that may bring a change, Infinity when none is in sight. Adjoining phases may be equal. */
  readonly until: number;
}

/** Something that is on during intervals of time. Whatever knows such intervals, a calendar say, can drive a policy. */
export type Intervals = (now: number) => Phase;

export const dayMs = 86_400_000;

/** How far to look for a start: past the rarest date, a leap day. */
const sightMs = 5 * 366 * dayMs;

/** How far to follow a state that goes on and on. */
export const patienceMs = 400 * dayMs;

export function always(): Phase {
  return { on: true, from: -Infinity, until: Infinity };
}

export function never(): Phase {
  return { on: false, from: -Infinity, until: Infinity };
}

/** On once, in `[start, end)`. */
export function once(start: number, end: number): Intervals {
  return (now) => {
    if (now < start) {
      return { on: false, from: -Infinity, until: start };
    }
    return now < end ? { on: true, from: start, until: end } : { on: false, from: end, until: Infinity };
  };
}

/** A schedule with how long each of its firings lasts, in whole milliseconds. */
export interface Recurrence {
  readonly schedule: Schedule;
  readonly durationMs: number;
}

/** On for a time after each firing of any of them. As that time is always the same, only the latest firing matters. */
export function recurring(recurrences: readonly Recurrence[]): Intervals {
  return (now) => {
    const ran = recurrences.flatMap(({ schedule, durationMs }) => {
      const from = lastFiring(schedule, now - sightMs, now + 1);
      return from === undefined ? [] : [{ from, end: from + durationMs }];
    });
    const open = ran.filter(({ end }) => now < end);
    if (open.length > 0) {
      const end = latest(open.map((each) => each.end));
      return { on: true, from: latest(open.map(({ from }) => from)), until: followed(recurrences, now, end) };
    }
    const starts = recurrences.map(({ schedule }) => nextStart(schedule, now) ?? Infinity);
    return { on: false, from: latest(ran.map(({ end }) => end)), until: Math.min(Infinity, ...starts) };
  };
}

function latest(instants: readonly number[]): number {
  return Math.max(-Infinity, ...instants);
}

/**
 * How long it stays on, if it is on from `now` to `end` already: for as long as a firing of the next day comes before all
 * earlier ones end. So a day without a gap is passed in one step, however many firings fill it.
 */
function followed(recurrences: readonly Recurrence[], now: number, end: number): number {
  const coming = recurrences.map(({ schedule, durationMs }) => {
    const chains = chainsOfFirings(schedule, now + 1, now + dayMs, durationMs);
    return { chains, next: chains.next().value, durationMs };
  });
  let until = end;
  for (let before = -Infinity; before < until;) {
    before = until;
    for (const each of coming) {
      while (each.next !== undefined && each.next.first <= until) {
        until = Math.max(until, each.next.last + each.durationMs);
        each.next = each.chains.next().value;
      }
    }
  }
  return until;
}

/** The first firing after `now`, if there is one within years. */
export function nextStart(schedule: Schedule, now: number): number | undefined {
  return firstFiring(schedule, now + 1, now + sightMs);
}

/** On while the other is off. */
export function inverse(intervals: Intervals): Intervals {
  return (now) => {
    const { on, from, until } = intervals(now);
    return { on: !on, from, until };
  };
}

/** When it is on where it was off, or the reverse; and how long that answer holds. */
export interface Turn {
  /** Absent when it is not in sight. */
  readonly at?: number;
  readonly until: number;
}

/**
 * The first turn after `now`. The search goes as far for every moment of a day, so that what was found for one of them
 * holds for those after it.
 */
export function nextTurn(intervals: Intervals, now: number): Turn {
  const today = startOfDay(now);
  const { on, until } = intervals(now);
  let at = until;
  while (at < Infinity) {
    const phase = intervals(at);
    if (phase.on !== on) {
      return { at, until: at };
    }
    at = phase.until > today + patienceMs ? Infinity : phase.until;
  }
  return { until: today + dayMs };
}

/** How many phases to remember: the present one, and those that questions about the future meet. */
const remembering = 4;

/**
 * The same answers, computed anew only for an instant outside the phases that were met last. The latest come first: so a
 * question about now is answered as fast for what turns every minute as for what never does.
 */
export function remembered<T extends { readonly until: number }>(compute: (now: number) => T): (now: number) => T {
  const met: { readonly since: number; readonly answer: T }[] = [];
  return (now) => {
    const known = met.find(({ since, answer }) => since <= now && now < answer.until);
    if (known !== undefined) {
      return known.answer;
    }
    const answer = compute(now);
    if (met.length === remembering) {
      met.pop();
    }
    met.unshift({ since: now, answer });
    return answer;
  };
}
