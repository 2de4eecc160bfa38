import { latestFit, startOfDay, widestPause } from '../../lib/time/cron.ts';
import { firstFiring, lastFiring, type Schedule } from '../../lib/time/schedule.ts';

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

const dayMs = 86_400_000;

/** How far to look for a start: past the rarest date, a leap day. */
const sightMs = 5 * 366 * dayMs;

/** How far to follow a state that goes on and on. */
const patienceMs = 400 * dayMs;

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

/** On for a time after each firing. As that time is always the same, only the latest firing matters. */
export function recurring(schedule: Schedule, durationMs: number): Intervals {
  const isDense = widestPause(schedule.cron) <= durationMs;
  return (now) => {
    const latest = lastFiring(schedule, now - sightMs, now + 1);
    if (latest !== undefined && now < latest + durationMs) {
      const last = isDense ? lastOfDay(schedule, latest) : latest;
      return { on: true, from: latest, until: last + durationMs };
    }
    return {
      on: false,
      from: latest === undefined ? -Infinity : latest + durationMs,
      until: nextStart(schedule, now) ?? Infinity,
    };
  };
}

/** The first firing after `now`, if there is one within years. */
export function nextStart(schedule: Schedule, now: number): number | undefined {
  return firstFiring(schedule, now + 1, now + sightMs);
}

/** The last firing before the clocks change or the day ends: where a day has no gaps it is passed in one step. */
function lastOfDay({ cron, zone }: Schedule, firing: number): number {
  const { end, offset } = zone.spanAt(firing);
  const wall = firing + offset;
  const last = latestFit(cron, wall, Math.min(end + offset, startOfDay(wall) + dayMs));
  return last === undefined ? firing : last - offset;
}

/** On while any of them is. */
export function union(all: readonly Intervals[]): Intervals {
  return (now) => {
    const phases = all.map((intervals) => intervals(now));
    const open = phases.filter(({ on }) => on);
    return open.length > 0
      ? { on: true, from: latest(open), until: Math.max(...open.map(({ until }) => until)) }
      : { on: false, from: latest(phases), until: Math.min(Infinity, ...phases.map(({ until }) => until)) };
  };
}

function latest(phases: readonly Phase[]): number {
  return Math.max(-Infinity, ...phases.map(({ from }) => from));
}

/** On while the other is off. */
export function inverse(intervals: Intervals): Intervals {
  return (now) => {
    const { on, from, until } = intervals(now);
    return { on: !on, from, until };
  };
}

/** The first instant after `now` at which it is on where it was off, or the reverse. */
export function nextChange(intervals: Intervals, now: number): number | undefined {
  const { on, until } = intervals(now);
  let at = until;
  while (at < Infinity) {
    const phase = intervals(at);
    if (phase.on !== on) {
      return at;
    }
    at = phase.until > now + patienceMs ? Infinity : phase.until;
  }
  return undefined;
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
