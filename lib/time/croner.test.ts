import { describe, expect, it } from '@jest/globals';
import { Cron } from 'croner';
import fc from 'fast-check';
import { firstFiring, lastFiring, parseSchedule } from './schedule.ts';
import { zoneOf } from './zone.ts';

/*
 * A second oracle, written by others. Its semantics differ where the clocks change: a time that they skip fires at the end of
 * the gap, which is what `catchesUp` means here, and a time that they show twice fires once, which is left out.
 */

const minuteMs = 60_000;
const yearMs = 366 * 1440 * minuteMs;
const zones = Intl.supportedValuesOf('timeZone');

function field(from: number, to: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: from, max: to });
  return fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 2, max: to }).map((step) => `*/${step}`),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
    fc
      .tuple(value, value, fc.integer({ min: 1, max: 5 }))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
  );
}

const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '));
const instant = fc
  .integer({ min: Date.UTC(2020, 0, 1) / minuteMs, max: Date.UTC(2035, 0, 1) / minuteMs })
  .map((minute) => minute * minuteMs);

/** The firings before and after an instant, if they are within a year. */
type Around = readonly [before: number | undefined, after: number | undefined];

function ours(text: string, zone: string, now: number): Around {
  const schedule = parseSchedule(text, zone);
  return [lastFiring(schedule, now - yearMs, now), firstFiring(schedule, now + 1, now + yearMs)];
}

function theirs(text: string, zone: string, now: number): Around {
  const job = new Cron(text, { timezone: zone, paused: true });
  const [before] = job.previousRuns(1, new Date(now));
  const after = job.nextRun(new Date(now)) ?? undefined;
  return [before, after].map((date) => {
    const at = date?.getTime();
    return at !== undefined && Math.abs(at - now) < yearMs ? at : undefined;
  }) as unknown as Around;
}

/** Whether the clocks do not change between the two firings, so that both implementations must agree. */
function isPlain(zone: string, now: number, [before = now, after = now]: Around): boolean {
  const { start, end } = zoneOf(zone).spanAt(now);
  return start + 3 * 60 * minuteMs <= before && after < end;
}

describe('a schedule and croner', () => {
  it('name the same firings before and after any instant, in every zone', () => {
    const samples = fc.sample(fc.tuple(expression, instant), { numRuns: 1_200, seed: 8 });

    const compared = samples.flatMap(([text, now], index) => {
      const zone = zones[index % zones.length] ?? 'UTC';
      const found = ours(text, zone, now);
      const expected = theirs(text, zone, now);
      const isComparable = isPlain(zone, now, found) && isPlain(zone, now, expected);
      return isComparable ? [{ text, zone, now, found, expected }] : [];
    });

    expect(compared.filter(({ found, expected }) => String(found) !== String(expected))).toEqual([]);
    expect(compared.length).toBeGreaterThan(600);
  });

  it('make up for a skipped time at the same instant, wherever clocks go forward', () => {
    const gaps = zones.flatMap(gapsOf).filter((_, index) => index % 5 === 0);

    const wrong = gaps.filter(({ zone, at, text }) => {
      const schedule = { ...parseSchedule(text, zone), catchesUp: true };
      const from = at - 6 * 60 * minuteMs;
      return firstFiring(schedule, from, from + yearMs) !== theirs(text, zone, from)[1];
    });

    expect(wrong).toEqual([]);
    expect(gaps.length).toBeGreaterThan(300);
  });
});

interface Gap {
  readonly zone: string;
  readonly at: number;
  /** Fires daily at a time that the clocks skip. */
  readonly text: string;
}

/** Every gap except those that end at midnight, which croner postpones to the same time of the next day. */
function gapsOf(zone: string): Gap[] {
  const { spanAt } = zoneOf(zone);
  const found: Gap[] = [];
  for (let at = spanAt(Date.UTC(2020, 0, 1)).end; at < Date.UTC(2036, 0, 1); at = spanAt(at).end) {
    const { offset: before } = spanAt(at - 1);
    const { offset } = spanAt(at);
    const skippedMs = offset - before;
    if (skippedMs > 0 && (at + offset) % (1440 * minuteMs) !== 0) {
      const wall = new Date(at + before + skippedMs / 2);
      found.push({ zone, at, text: `${wall.getUTCMinutes()} ${wall.getUTCHours()} * * *` });
    }
  }
  return found;
}
