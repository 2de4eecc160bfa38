import { parseDuration } from '../../lib/time/duration.ts';
import { parseSchedule, type Schedule } from '../../lib/time/schedule.ts';
import { zoneOf, type Zone } from '../../lib/time/zone.ts';
import { never, recurring, type Intervals } from './intervals.ts';
import type { Window } from './policy.ts';
import { attempt, type Problem } from './problem.ts';

/** A window by its name, and when it is open. */
export interface OpenWindow {
  readonly name: string;
  readonly durationMs: number;
  readonly open: Intervals;
  /** When it opens; absent where that can't be read. */
  readonly starts?: Schedule;
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
      return { name, durationMs: 0, open: never };
    }
    const starts = { ...read.schedule, catchesUp: onSkipped === 'NextValid' };
    const { durationMs } = read;
    return { name, durationMs, starts, open: recurring(starts, durationMs) };
  });
}

export function readZone(name: string, problems: Problem[]): Zone | undefined {
  return attempt(
    () => zoneOf(name),
    (cause) => {
      const message = `spec.timezone: invalid timezone ${JSON.stringify(name)}: ${cause}`;
      problems.push({ reason: 'EvaluationFailed', message });
    },
  );
}

export interface Recurrence {
  readonly schedule: string;
  readonly duration: string;
  readonly timezone: string;
}

/** A schedule with how long each of its firings lasts. */
export function readRecurrence(
  { schedule, duration, timezone }: Recurrence,
  field: string,
  problems: Problem[],
): { readonly schedule: Schedule; readonly durationMs: number } | undefined {
  function tell(message: string): void {
    problems.push({ reason: 'EvaluationFailed', message });
  }
  const read = attempt(
    () => parseSchedule(schedule, timezone),
    (cause) => tell(`${field}.schedule: invalid cron expression ${JSON.stringify(schedule)}: ${cause}`),
  );
  const durationMs = attempt(
    () => parseDuration(duration),
    (cause) => tell(`${field}.duration: invalid duration ${JSON.stringify(duration)}: ${cause}`),
  );
  if (durationMs !== undefined && durationMs <= 0) {
    tell(`${field}.duration: must be greater than 0`);
    return undefined;
  }
  return read === undefined || durationMs === undefined ? undefined : { schedule: read, durationMs };
}
