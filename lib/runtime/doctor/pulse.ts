import { latestFit, parseCron } from '../../time/cron.ts';
import type { Found } from './finding.ts';

/** What the metrics of one process say about its life. Times are in seconds. */
export interface Vitals {
  /** Whose they are, for a sentence: `pod coredns-sync-7d9f` or `this process`. */
  readonly who: string;
  readonly started: number;
  /** Absent: none since its start. */
  readonly lastTick: number | undefined;
  readonly lastSuccess: number | undefined;
}

export interface Pulse {
  /** Five-field cron, in UTC. Absent: the function has no tick. */
  readonly schedule: string | undefined;
  readonly now: Date;
  /** Among how many processes ticks are shared of which only some are looked at. */
  readonly sharing?: number;
  /** What ticks there. Absent: whatever does. */
  readonly ticker?: string;
  /** Some process could not be looked at: it may be the one that gets them all. */
  readonly partial?: boolean;
}

/** `undefined` where the text is not what a function of that name shows. */
export function vitalsOf(
  metrics: string,
  { name, who }: { readonly name: string; readonly who: string },
): Vitals | undefined {
  const label = `{function="${name}"}`;
  const started = valueOf(metrics, 'process_start_time_seconds ');
  const lastTick = valueOf(metrics, `kube_reflex_last_tick_timestamp_seconds${label} `);
  const lastSuccess = valueOf(metrics, `kube_reflex_last_success_timestamp_seconds${label} `);
  return started === undefined ? undefined : { who, started, lastTick, lastSuccess };
}

/** Whether ticks reach the function, and whether each of its processes does well with what reaches it. */
export function examinePulse(processes: readonly Vitals[], pulse: Pulse): Found[] {
  return [
    ...examineSuccess(processes, pulse),
    ...(pulse.schedule === undefined ? [] : [examineTicks(processes, pulse)]),
  ];
}

/** A tick that is due just now may be on its way, and one may get lost; two in a row are a pattern. */
const onItsWaySeconds = 90;
const lossesForgiven = 1;

/** Whichever process a tick reached: they are shared out. */
function examineTicks(processes: readonly Vitals[], pulse: Pulse): Found {
  const check = 'ticks';
  const expected = expectedSince(pulse);
  const last = Math.max(...processes.map(({ lastTick = 0 }) => lastTick));
  if (last >= expected) {
    return { check, state: 'ok', message: `the last ${ago(last, pulse)}` };
  }
  const started = Math.min(...processes.map((each) => each.started));
  const message = last === 0 ? `none since its start ${ago(started, pulse)}` : `none since ${ago(last, pulse)}`;
  return started > expected || pulse.partial === true
    ? { check, state: 'unknown', message }
    : {
        check,
        state: 'error',
        message,
        fix: `look at ${pulse.ticker ?? 'what ticks: the PingSource and its Trigger, or the log of the event source'}`,
      };
}

/** One process that fails at every tick is wrong, even if another does well. */
function examineSuccess(processes: readonly Vitals[], pulse: Pulse): Found[] {
  const check = 'last success';
  const failing = processes.filter((each) => isFailing(each, pulse));
  if (failing.length > 0) {
    return failing.map(({ who, lastSuccess, started }) => ({
      check,
      state: 'error',
      message: `${who} gets ticks and fails: its last success was ${lastSuccess === undefined ? 'never' : ago(lastSuccess, pulse)}, its start ${ago(started, pulse)}`,
      fix: 'its log says why',
    }));
  }
  const last = Math.max(...processes.map(({ lastSuccess = 0 }) => lastSuccess));
  return last === 0
    ? [{ check, state: 'unknown', message: 'nothing has woken it yet' }]
    : [{ check, state: 'ok', message: ago(last, pulse) }];
}

/** It is woken as it should be, and that has not ended well for longer than one run may take its time. */
function isFailing({ lastTick, lastSuccess, started }: Vitals, pulse: Pulse): boolean {
  return lastTick !== undefined && Math.max(lastSuccess ?? 0, started) < Math.min(lastTick, expectedSince(pulse));
}

/** The scheduled time since which at least one tick must have come. */
function expectedSince({ schedule = '* * * * *', now, sharing = 1 }: Pulse): number {
  const cron = parseCron(schedule);
  const year = 366 * 86_400_000;
  let at = now.getTime() - onItsWaySeconds * 1000;
  for (let count = 0; count < (1 + lossesForgiven) * sharing; count += 1) {
    at = latestFit(cron, at - year, at) ?? 0;
  }
  return at / 1000;
}

function ago(seconds: number, { now }: Pulse): string {
  const minutes = Math.max(0, Math.round((now.getTime() / 1000 - seconds) / 60));
  return minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`;
}

function valueOf(metrics: string, series: string): number | undefined {
  const line = metrics.split('\n').find((each) => each.startsWith(series));
  return line === undefined ? undefined : Number(line.slice(series.length));
}
