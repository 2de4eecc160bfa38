import type { Found } from './finding.ts';

const patienceMinutes = 15;

export interface Pulse {
  readonly function: string;
  /** It has a tick. */
  readonly ticks: boolean;
  readonly now: Date;
}

/** What the metrics of a process say about its life: when it last did well, and whether ticks reach it. */
export function examinePulse(metrics: string, pulse: Pulse): Found[] {
  return [lastSuccess(metrics, pulse), ...(pulse.ticks ? [ticks(metrics, pulse)] : [])];
}

function lastSuccess(metrics: string, pulse: Pulse): Found {
  const check = 'last success';
  const label = `{function="${pulse.function}"}`;
  const [at] = valuesOf(metrics, 'kube_reflex_last_success_timestamp_seconds', label);
  if (at === undefined) {
    return silent(check, 'nothing has succeeded', metrics, pulse);
  }
  const minutes = minutesSince(at, pulse);
  return minutes <= patienceMinutes
    ? { check, state: 'ok', message: `${minutes} minutes ago` }
    : { check, state: 'error', message: `${minutes} minutes ago`, fix: 'ticks do not arrive or fail; see its log' };
}

function ticks(metrics: string, pulse: Pulse): Found {
  const check = 'ticks';
  const label = `function="${pulse.function}",trigger="tick"`;
  const count = valuesOf(metrics, 'kube_reflex_requests_total', label).reduce((sum, value) => sum + value, 0);
  return count > 0
    ? { check, state: 'ok', message: `${count} arrived` }
    : silent(check, 'none arrived', metrics, pulse);
}

/** A process that has just started has nothing to show yet. */
function silent(check: string, what: string, metrics: string, pulse: Pulse): Found {
  const [start] = valuesOf(metrics, 'process_start_time_seconds', '');
  if (start === undefined) {
    return { check, state: 'unknown', message: 'its metrics could not be read' };
  }
  const minutes = minutesSince(start, pulse);
  const message = `${what} in the ${minutes} minutes of its life`;
  return minutes <= patienceMinutes
    ? { check, state: 'unknown', message }
    : { check, state: 'error', message, fix: 'look at the PingSource and its Trigger, or the log of the source' };
}

function minutesSince(seconds: number, { now }: Pulse): number {
  return Math.max(0, Math.round((now.getTime() / 1000 - seconds) / 60));
}

/** The values of all series of that name whose labels contain the text. */
function valuesOf(metrics: string, name: string, labels: string): number[] {
  return metrics
    .split('\n')
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}
