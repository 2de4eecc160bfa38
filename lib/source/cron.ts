/** A five-field schedule in UTC: which values of each field fire. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** When both days and weekdays are limited, either one fires; otherwise both must fit. */
  readonly eitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const fields = {
  minutes: { name: 'minute', from: 0, to: 59 },
  hours: { name: 'hour', from: 0, to: 23 },
  days: { name: 'day of month', from: 1, to: 31 },
  months: { name: 'month', from: 1, to: 12 },
  weekdays: { name: 'day of week', from: 0, to: 6 },
} as const satisfies Record<string, Field>;

const item = /^(?<bounds>\*|\d{1,2}(-\d{1,2})?)(\/(?<step>[1-9]\d?))?$/;

/** A leap day comes at the latest after eight years. */
const horizonYears = 8;

/** Reads `minute hour day month weekday` with `*`, lists, ranges and steps, as PingSource does. Throws with what is wrong. */
export function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = parts;
  if (parts.length !== 5) {
    throw new Error(`schedule "${text}": expected 5 fields, got ${parts.length}`);
  }
  const cron = {
    minutes: parseField(minutes, fields.minutes),
    hours: parseField(hours, fields.hours),
    days: parseField(days, fields.days),
    months: parseField(months, fields.months),
    weekdays: parseField(weekdays, fields.weekdays),
    eitherDay: !isEvery(days) && !isEvery(weekdays),
  };
  if (search(cron, new Date(0)) === undefined) {
    throw new Error(`schedule "${text}": no date fits`);
  }
  return cron;
}

/** The first full minute after `after` that fits. */
export function nextTime(cron: Cron, after: Date): Date {
  const found = search(cron, after);
  if (found === undefined) {
    throw new Error(`the schedule has no date within ${horizonYears} years after ${after.toISOString()}`);
  }
  return found;
}

function parseField(text: string, field: Field): ReadonlySet<number> {
  return new Set(text.split(',').flatMap((part) => parseItem(part, field)));
}

function parseItem(text: string, field: Field): number[] {
  const { bounds = '', step } = item.exec(text)?.groups ?? {};
  const [start, end] = boundsOf(bounds, step !== undefined, field);
  if (field.from <= start && start <= end && end <= field.to) {
    return range(start, end, Number(step ?? 1));
  }
  throw new Error(`schedule: "${text}" is no ${field.name} from ${field.from} to ${field.to}`);
}

/** `5` stands for itself, `5/15` runs to the end of the field. Not a number where the text is none. */
function boundsOf(text: string, hasStep: boolean, { from, to }: Field): readonly [number, number] {
  if (text === '*') {
    return [from, to];
  }
  const [start = Number.NaN, end] = text.split('-').map((part) => Number.parseInt(part, 10));
  return [start, end ?? (hasStep ? to : start)];
}

function range(start: number, end: number, step: number): number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}

function isEvery(text: string): boolean {
  return text.split(',').some((part) => part === '*' || part === '*/1');
}

/** Moves to the next month, day, hour or minute that may fit, largest first, so that rare dates are found quickly. */
function search(cron: Cron, after: Date): Date | undefined {
  const time = new Date(Math.floor(after.getTime() / 60_000) * 60_000 + 60_000);
  const lastYear = time.getUTCFullYear() + horizonYears;
  while (time.getUTCFullYear() <= lastYear) {
    if (!cron.months.has(time.getUTCMonth() + 1)) {
      time.setUTCMonth(time.getUTCMonth() + 1, 1);
      time.setUTCHours(0, 0);
    } else if (!firesOnDay(cron, time)) {
      time.setUTCDate(time.getUTCDate() + 1);
      time.setUTCHours(0, 0);
    } else if (!cron.hours.has(time.getUTCHours())) {
      time.setUTCHours(time.getUTCHours() + 1, 0);
    } else if (!cron.minutes.has(time.getUTCMinutes())) {
      time.setUTCMinutes(time.getUTCMinutes() + 1);
    } else {
      return time;
    }
  }
  return undefined;
}

function firesOnDay({ days, weekdays, eitherDay }: Cron, time: Date): boolean {
  const day = days.has(time.getUTCDate());
  const weekday = weekdays.has(time.getUTCDay());
  return eitherDay ? day || weekday : day && weekday;
}
