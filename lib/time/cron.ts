import { quote } from '../base/quote.ts';

/** A five-field cron schedule on the wall clock. */
export interface Cron {
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If both days and weekdays are limited, either of them is enough (as in cron); otherwise both must match. */
  readonly eitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the values, starting with the name of `from`. */
  readonly names?: readonly string[];
}

const fields = {
  minutes: { name: 'minute', from: 0, to: 59 },
  hours: { name: 'hour', from: 0, to: 23 },
  days: { name: 'day of month', from: 1, to: 31 },
  months: {
    name: 'month',
    from: 1,
    to: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  weekdays: { name: 'day of week', from: 0, to: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
} as const satisfies Record<string, Field>;

/** Longer than a list of every value of every field. */
const longestText = 1000;

/**
 * Reads `minute hour day month weekday` with `*`, `?`, names, lists, ranges and steps. Throws an error that names the
 * problem.
 */
export function parseCron(text: string): Cron {
  if (text.length > longestText) {
    throw new Error(`schedule of ${text.length} characters: expected at most ${longestText}`);
  }
  const parts = text.trim().split(/\s+/);
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = parts;
  if (parts.length !== 5) {
    throw new Error(`schedule ${quote(text)}: expected 5 fields, got ${text.trim() === '' ? 0 : parts.length}`);
  }
  const minutesOfHour = [...parseField(minutes, fields.minutes)].sort(ascending);
  const hoursOfDay = [...parseField(hours, fields.hours)].sort(ascending);
  return {
    times: hoursOfDay.flatMap((hour) => minutesOfHour.map((minute) => 60 * hour + minute)),
    days: parseField(days, fields.days),
    months: parseField(months, fields.months),
    weekdays: parseField(weekdays, fields.weekdays),
    eitherDay: !isEvery(days) && !isEvery(weekdays),
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

function parseField(text: string, field: Field): ReadonlySet<number> {
  return new Set(text.split(',').flatMap((part) => parseItem(part, field)));
}

const item = /^(?<bounds>[*?]|\w+(-\w+)?)(\/(?<step>\d+))?$/;

function parseItem(text: string, field: Field): number[] {
  const { bounds = '', step } = item.exec(text)?.groups ?? {};
  const [first, last] = boundsOf(bounds, step !== undefined, field);
  const stride = Number(step ?? 1);
  if (field.from <= first && first <= last && last <= field.to && stride >= 1) {
    return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, index) => first + index * stride);
  }
  throw new Error(`schedule: ${quote(text)} is not a valid ${field.name} from ${field.from} to ${field.to}`);
}

/** `5` means itself; `5/15` runs to the end of the field. */
function boundsOf(text: string, hasStep: boolean, field: Field): readonly [number, number] {
  if (text === '*' || text === '?') {
    return [field.from, field.to];
  }
  const [first = Number.NaN, last] = text.split('-').map((part) => valueOf(part, field));
  return [first, last ?? (hasStep ? field.to : first)];
}

/** Returns NaN if the text is not a number. */
function valueOf(text: string, { from, names = [] }: Field): number {
  const named = names.indexOf(text.toLowerCase());
  return named < 0 ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : from + named;
}

function isEvery(text: string): boolean {
  return text.split(',').some((part) => /^[*?](\/0*1)?$/.test(part));
}

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

/** The first wall time in `[from, to)` that matches. */
export function earliestFit(cron: Cron, from: number, to: number): number | undefined {
  for (let day = startOfDay(from); day < to; day = dayAfter(cron, day)) {
    const time = firesOn(cron, day) ? cron.times[countBefore(cron.times, (from - day) / minuteMs)] : undefined;
    if (time !== undefined) {
      const wall = day + time * minuteMs;
      return wall < to ? wall : undefined;
    }
  }
  return undefined;
}

/** The last wall time in `[from, to)` that matches. */
export function latestFit(cron: Cron, from: number, to: number): number | undefined {
  for (let day = startOfDay(to); day > from - dayMs; day = dayBefore(cron, day)) {
    const time = firesOn(cron, day) ? cron.times[countBefore(cron.times, (to - day) / minuteMs) - 1] : undefined;
    if (time !== undefined) {
      const wall = day + time * minuteMs;
      return wall >= from ? wall : undefined;
    }
  }
  return undefined;
}

/** A series of times that follow each other closely. */
export interface Chain {
  readonly first: number;
  readonly last: number;
}

/**
 * The matching wall times in `[from, to)` as chains: within a chain, each follows the previous one within `pauseMs`.
 */
export function* chainsOfFits(cron: Cron, from: number, to: number, pauseMs: number): Generator<Chain, undefined> {
  const { times } = cron;
  // If the times of a day form one chain, handle the day in one step.
  const step = longestPauseMs(cron) <= pauseMs ? times.length : 1;
  let chain: { first: number; last: number } | undefined;
  for (let day = startOfDay(from); day < to; day = dayAfter(cron, day)) {
    const end = firesOn(cron, day) ? countBefore(times, (to - day) / minuteMs) : 0;
    for (let index = countBefore(times, (from - day) / minuteMs); index < end; index += step) {
      const [first, last] = [wallOf(cron, day, index), wallOf(cron, day, Math.min(index + step, end) - 1)];
      if (chain !== undefined && first - chain.last <= pauseMs) {
        chain.last = last;
        continue;
      }
      if (chain !== undefined) {
        yield chain;
      }
      chain = { first, last };
    }
  }
  if (chain !== undefined) {
    yield chain;
  }
}

function wallOf({ times }: Cron, day: number, index: number): number {
  return day + (times[index] ?? 0) * minuteMs;
}

const knownPauses = new WeakMap<Cron, number>();

/** The longest time between two matches on the same day. */
function longestPauseMs(cron: Cron): number {
  const known = knownPauses.get(cron);
  if (known !== undefined) {
    return known;
  }
  const { times } = cron;
  const pauses = times.map((time, index) => time - (times[index - 1] ?? time));
  const longest = Math.max(0, ...pauses) * minuteMs;
  knownPauses.set(cron, longest);
  return longest;
}

export function startOfDay(wall: number): number {
  return Math.floor(wall / dayMs) * dayMs;
}

/** The next day that may match; months that never match are skipped at once. */
function dayAfter({ months }: Cron, day: number): number {
  const date = new Date(day);
  const month = date.getUTCMonth();
  return months.has(month + 1) ? day + dayMs : Date.UTC(date.getUTCFullYear(), month + 1, 1);
}

function dayBefore({ months }: Cron, day: number): number {
  const date = new Date(day);
  const month = date.getUTCMonth();
  return months.has(month + 1) ? day - dayMs : Date.UTC(date.getUTCFullYear(), month, 0);
}

function firesOn({ days, months, weekdays, eitherDay }: Cron, wall: number): boolean {
  const date = new Date(wall);
  if (!months.has(date.getUTCMonth() + 1)) {
    return false;
  }
  const day = days.has(date.getUTCDate());
  const weekday = weekdays.has(date.getUTCDay());
  return eitherDay ? day || weekday : day && weekday;
}

/** The number of ascending times below the limit. */
function countBefore(times: readonly number[], limit: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? limit) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
