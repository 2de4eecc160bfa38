import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { long } from '../../test/support/long.ts';
import { chainsOfFirings, firstFiring, firstSkip, lastFiring, parseSchedule, type Schedule } from './schedule.ts';

/*
 * The definition, applied minute by minute: an instant fires when the clocks of the zone then show a time that fits. The
 * brute force shares nothing with the evaluator: it reads clocks by Intl, and fits values that it chose itself.
 */

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const start = Date.UTC(2020, 0, 1);
const years = long(16, 4);
const end = Date.UTC(2020 + years, 0, 1);
const schedules = long(5_000, 1_500);
const stepMs = long(1, 3) * dayMs;

/** The wall time of a zone, as if it were UTC. */
function clockOf(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instant) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format
      .format(instant)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
}

/** A period of three days, in minutes of wall time. */
interface Stretch {
  readonly zone: string;
  readonly from: number;
  /** The wall time at each minute. */
  readonly walls: readonly number[];
}

/** Every clock change of a zone with the days around it; for a zone without changes, some days in June. */
function stretchesOf(zone: string): Stretch[] {
  const clock = clockOf(zone);
  const found: Stretch[] = [];
  let ahead = clock(start) - start;
  // More often than weekly, as the evaluator looks: it must not share what that could miss.
  for (let day = start; day < end; day += stepMs) {
    const next = day + stepMs;
    const aheadNext = clock(next) - next;
    if (ahead !== aheadNext) {
      found.push(
        stretch(
          zone,
          clock,
          firstMinute(day, next, (at) => clock(at) - at !== ahead),
        ),
      );
    }
    ahead = aheadNext;
  }
  return found.length === 0 ? [stretch(zone, clock, Date.UTC(2026, 5, 15))] : found;
}

/** The first minute between `low` and `high` for which the condition holds; it must hold at `high`. */
function firstMinute(low: number, high: number, holds: (instant: number) => boolean): number {
  if (high - low <= minuteMs) {
    return high;
  }
  const middle = low + Math.floor((high - low) / minuteMs / 2) * minuteMs;
  return holds(middle) ? firstMinute(low, middle, holds) : firstMinute(middle, high, holds);
}

function stretch(zone: string, clock: (instant: number) => number, change: number): Stretch {
  const from = change - 1.5 * dayMs;
  const [before, after] = [clock(from) - from, clock(change) - change];
  const walls = Array.from({ length: 3 * 1440 }, (_, index) => {
    const at = from + index * minuteMs;
    return at + (at < change ? before : after);
  });
  const odd = walls.findIndex((wall, index) => index % 60 === 0 && clock(from + index * minuteMs) !== wall);
  if (odd !== -1) {
    throw new Error(`the clocks of ${zone} change twice within three days around ${new Date(change).toISOString()}`);
  }
  return { zone, from, walls };
}

interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly every: boolean;
}

function field(from: number, to: number): fc.Arbitrary<Field> {
  const value = fc.integer({ min: from, max: to });
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return fc.oneof(
    fc.constant({ text: '*', values: new Set(all), every: true }),
    fc.integer({ min: 2, max: to }).map((step) => ({
      text: `*/${step}`,
      values: new Set(all.filter((each) => (each - from) % step === 0)),
      every: false,
    })),
    fc
      .uniqueArray(value, { minLength: 1, maxLength: 4 })
      .map((list) => ({ text: list.join(','), values: new Set(list), every: false })),
    fc.tuple(value, value, fc.integer({ min: 1, max: 5 })).map(([a, b, step]) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      const values = new Set(all.filter((each) => low <= each && each <= high && (each - low) % step === 0));
      return { text: `${low}-${high}/${step}`, values, every: false };
    }),
  );
}

interface Generated {
  readonly text: string;
  readonly fits: (wall: number) => boolean;
}

const anySchedule: fc.Arbitrary<Generated> = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map(([minute, hour, day, month, weekday]) => {
    function fitsDay(wall: number): boolean {
      const date = new Date(wall);
      const [byDay, byWeekday] = [day.values.has(date.getUTCDate()), weekday.values.has(date.getUTCDay())];
      const fits = day.every || weekday.every ? byDay && byWeekday : byDay || byWeekday;
      return fits && month.values.has(date.getUTCMonth() + 1);
    }
    return {
      text: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
      fits: (wall) => {
        const minutes = Math.floor(wall / minuteMs);
        return (
          wall % minuteMs === 0 &&
          minute.values.has(minutes % 60) &&
          hour.values.has(Math.floor(minutes / 60) % 24) &&
          fitsDay(wall)
        );
      },
    };
  });

/** The minutes that fire, and those that would fire if skipped times were caught up. */
function bruteForce(walls: readonly number[], { fits }: Generated): { fires: boolean[]; catchesUp: boolean[] } {
  const fires = walls.map(fits);
  const catchesUp = walls.map((wall, index) => {
    for (let skipped = (walls[index - 1] ?? wall) + minuteMs; skipped < wall; skipped += minuteMs) {
      if (fits(skipped)) {
        return true;
      }
    }
    return fires[index] === true;
  });
  return { fires, catchesUp };
}

/** The instants at which the evaluator disagrees with the minute-by-minute search. */
function differences(schedule: Schedule, fires: readonly boolean[], from: number): number[] {
  const to = from + fires.length * minuteMs;
  const middle = fires.length / 2;
  const found = new Set([...chainsOfFirings(schedule, from, to, 0)].map(({ first }) => first));
  const all = fires.flatMap((does, index) => (does ? [from + index * minuteMs] : []));
  const looks = [0, 1000, middle - 61, middle - 1, middle, middle + 1, middle + 59, 3300, fires.length - 1];
  const missed = all.length === found.size && all.every((at) => found.has(at)) ? [] : [from];
  const misled = looks
    .filter((index) => {
      const now = from + index * minuteMs;
      const [next, last] = [fires.indexOf(true, index), fires.lastIndexOf(true, index)].map((each) =>
        each < 0 ? undefined : from + each * minuteMs,
      );
      return firstFiring(schedule, now, to) !== next || lastFiring(schedule, from, now + 1) !== last;
    })
    .map((index) => from + index * minuteMs);
  return [...missed, ...misled];
}

describe('a schedule', () => {
  it(`agrees with a minute-by-minute search in every zone and at every clock change of ${years} years`, () => {
    const stretches = Intl.supportedValuesOf('timeZone').flatMap(stretchesOf);
    const samples = fc.sample(anySchedule, { numRuns: schedules, seed: 8 });

    const wrong = samples.flatMap((generated, index) => {
      const place = stretches[index % stretches.length];
      if (place === undefined) {
        return ['there is no zone'];
      }
      const { zone, from, walls } = place;
      const { fires, catchesUp } = bruteForce(walls, generated);
      const schedule = parseSchedule(generated.text, zone);
      const found = [
        ...differences(schedule, fires, from),
        ...differences({ ...schedule, catchesUp: true }, catchesUp, from),
      ];
      return found.map((instant) => `${zone} ${generated.text} at ${new Date(instant).toISOString()}`);
    });

    expect(wrong).toEqual([]);
    expect(stretches.length).toBeGreaterThan(long(3_000, 1_000));
    expect(stretches.length).toBeLessThan(schedules);
  });

  it.each([
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T00:00:00Z', '2026-10-02T15:45:00Z'],
    ['Africa/Cairo', '0 0 * * *', '2026-04-23T12:00:00Z', '2026-04-24T21:00:00Z'],
    ['America/Havana', '30 0 * * *', '2026-03-07T12:00:00Z', '2026-03-09T04:30:00Z'],
    ['Asia/Beirut', '0 0 * * *', '2026-03-28T12:00:00Z', '2026-03-29T21:00:00Z'],
    ['Pacific/Chatham', '0 3 * * *', '2026-09-26T00:00:00Z', '2026-09-27T13:15:00Z'],
    ['', '0 3 * * *', '2026-09-26T00:00:00Z', '2026-09-26T03:00:00Z'],
    ['Local', '0 3 * * *', '2026-09-26T00:00:00Z', '2026-09-26T03:00:00Z'],
    ['Europe/Berlin', 'TZ=Asia/Tokyo 0 3 * * *', '2026-09-26T00:00:00Z', '2026-09-26T18:00:00Z'],
  ])('in "%s" by "%s" fires after %s at %s', (zone, text, from, expected) => {
    const found = firstFiring(parseSchedule(text, zone), Date.parse(from), Date.parse(from) + 10 * dayMs);

    expect(found === undefined ? undefined : new Date(found).toISOString()).toBe(new Date(expected).toISOString());
  });

  it('finds the clock change that skips it', () => {
    const from = Date.UTC(2026, 0, 1);

    expect(firstSkip(parseSchedule('30 2 * * *', 'Europe/Berlin'), from, from + 366 * dayMs)).toBe(
      Date.UTC(2026, 2, 29, 1),
    );
    expect(firstSkip(parseSchedule('30 4 * * *', 'Europe/Berlin'), from, from + 366 * dayMs)).toBeUndefined();
  });
});
