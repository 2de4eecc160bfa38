import { quote } from '../../lib/base/quote.ts';
import { parseDuration } from '../../lib/time/duration.ts';
import { parseSchedule } from '../../lib/time/schedule.ts';
import { zoneOf, type Zone } from '../../lib/time/zone.ts';
import { never, recurring, type Intervals, type Recurrence } from './intervals.ts';
import type { Window } from './policy.ts';
import { attempt, type Problem } from './problem.ts';

/** A window by its name, and when it is open. */
export interface OpenWindow {
  readonly name: string;
  readonly open: Intervals;
  /** When it opens and for how long; absent where that can't be read. */
  readonly recurs?: Recurrence;
}

/** Reads the windows of a policy. One that can't be read is closed, and all are where the zone is unknown. */
export function readWindows(
  windows: readonly Window[],
  zone: Zone | undefined,
  problems: Problem[],
): readonly OpenWindow[] {
  return windows.map(({ name, schedule, duration, onSkipped }, index) => {
    const timezone = zone?.name ?? '';
    const read = readRecurrence({ schedule, duration, timezone }, `spec.windows[${index}]`, problems);
    if (read === undefined || zone === undefined) {
      return { name, open: never };
    }
    const recurs = { ...read, schedule: { ...read.schedule, catchesUp: onSkipped === 'NextValid' } };
    return { name, recurs, open: recurring([recurs]) };
  });
}

export function readZone(name: string, problems: Problem[]): Zone | undefined {
  return attempt(
    () => zoneOf(name),
    (cause) => {
      const message = `spec.timezone: invalid timezone ${quote(name)}: ${cause}`;
      problems.push({ reason: 'EvaluationFailed', message });
    },
  );
}

interface RecurrenceText {
  readonly schedule: string;
  readonly duration: string;
  readonly timezone: string;
}

/** A schedule with how long each of its firings lasts. */
export function readRecurrence(
  { schedule, duration, timezone }: RecurrenceText,
  field: string,
  problems: Problem[],
): Recurrence | undefined {
  function tell(message: string): void {
    problems.push({ reason: 'EvaluationFailed', message });
  }
  const read = attempt(
    () => parseSchedule(schedule, timezone),
    (cause) => tell(`${field}.schedule: invalid cron expression ${quote(schedule)}: ${cause}`),
  );
  const durationMs = attempt(
    () => parseDuration(duration),
    (cause) => tell(`${field}.duration: invalid duration ${quote(duration)}: ${cause}`),
  );
  if (durationMs !== undefined && durationMs <= 0) {
    tell(`${field}.duration: must be greater than 0`);
    return undefined;
  }
  return read === undefined || durationMs === undefined
    ? undefined
    : // Our clock counts milliseconds: what lasts for a part of one is on for that one.
      { schedule: read, durationMs: Math.ceil(durationMs) };
}
