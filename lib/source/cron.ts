import { earliestFit, parseCron, type Cron } from '../time/cron.ts';

const minuteMs = 60_000;

/** A leap day recurs after eight years at the latest. */
const horizonMs = 8 * 366 * 24 * 60 * minuteMs;

/** Reads a schedule as PingSource does, in UTC. Throws if it is wrong or if no date ever matches. */
export function parseTicks(text: string): Cron {
  const cron = parseCron(text);
  if (earliestFit(cron, 0, horizonMs) === undefined) {
    throw new Error(`schedule "${text}": no date matches`);
  }
  return cron;
}

/** The first full minute after `after` that matches. */
export function nextTime(cron: Cron, after: Date): Date {
  const from = Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs;
  const found = earliestFit(cron, from, from + horizonMs);
  if (found === undefined) {
    throw new Error(`the schedule has no date within 8 years after ${after.toISOString()}`);
  }
  return new Date(found);
}
