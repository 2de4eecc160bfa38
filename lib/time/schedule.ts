import { chainsOfFits, earliestFit, latestFit, parseCron, type Chain, type Cron } from './cron.ts';
import { zoneOf, type Span, type Zone } from './zone.ts';

/**
 * A cron expression in a time zone. It fires at each instant at which the clocks of the zone show a matching time: a
 * time that they skip in spring does not fire, and a time that they show twice in autumn fires twice.
 */
export interface Schedule {
  readonly cron: Cron;
  readonly zone: Zone;
  /** Skipped times fire at the instant at which the clocks go forward. */
  readonly catchesUp?: boolean;
}

const prefixed = /^(?:CRON_TZ|TZ)=(?<zone>\S*)\s*(?<expression>.*)$/s;

/**
 * Reads a cron expression. A prefix `TZ=<zone>` or `CRON_TZ=<zone>` overrides `zone`. Throws an error that names the
 * problem.
 */
export function parseSchedule(text: string, zone: string): Schedule {
  const { zone: own = zone, expression = text } = prefixed.exec(text)?.groups ?? {};
  return { cron: parseCron(expression), zone: zoneOf(own) };
}

/**
 * The first instant in `[from, to)` that fires. Between two clock changes, wall time is instant plus offset, so each
 * such span is searched by calendar alone.
 */
export function firstFiring(schedule: Schedule, from: number, to: number): number | undefined {
  const { cron, zone } = schedule;
  for (let start = from; start < to;) {
    const span = zone.spanAt(start);
    if (start === span.start && catchesUpAt(schedule, span)) {
      return start;
    }
    const wall = earliestFit(cron, start + span.offset, Math.min(span.end, to) + span.offset);
    if (wall !== undefined) {
      return wall - span.offset;
    }
    start = span.end;
  }
  return undefined;
}

/** The last instant in `[from, to)` that fires. */
export function lastFiring(schedule: Schedule, from: number, to: number): number | undefined {
  const { cron, zone } = schedule;
  for (let end = to; end > from;) {
    const span = zone.spanAt(end - 1);
    const wall = latestFit(cron, Math.max(span.start, from) + span.offset, end + span.offset);
    if (wall !== undefined) {
      return wall - span.offset;
    }
    if (span.start >= from && catchesUpAt(schedule, span)) {
      return span.start;
    }
    end = span.start;
  }
  return undefined;
}

/** The firing instants in `[from, to)` as chains: within a chain, each follows the previous one within `pauseMs`. */
export function* chainsOfFirings(
  schedule: Schedule,
  from: number,
  to: number,
  pauseMs: number,
): Generator<Chain, undefined> {
  for (let start = from; start < to;) {
    const span = schedule.zone.spanAt(start);
    const { offset, end } = span;
    if (start === span.start && catchesUpAt(schedule, span)) {
      yield { first: start, last: start };
    }
    for (const { first, last } of chainsOfFits(schedule.cron, start + offset, Math.min(end, to) + offset, pauseMs)) {
      yield { first: first - offset, last: last - offset };
    }
    start = end;
  }
}

/** Whether the clocks skipped a matching time when this span began. */
function catchesUpAt(schedule: Schedule, span: Span): boolean {
  return schedule.catchesUp === true && skipsAt(schedule, span);
}

function skipsAt({ cron, zone }: Schedule, { start, offset }: Span): boolean {
  return earliestFit(cron, start + zone.spanAt(start - 1).offset, start + offset) !== undefined;
}

/** The first clock change in `[from, to)` that skips a matching time. */
export function firstSkip(schedule: Schedule, from: number, to: number): number | undefined {
  for (let at = schedule.zone.spanAt(from).end; at < to; at = schedule.zone.spanAt(at).end) {
    if (skipsAt(schedule, schedule.zone.spanAt(at))) {
      return at;
    }
  }
  return undefined;
}
