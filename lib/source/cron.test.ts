import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Cron } from '../time/cron.ts';
import { nextTime, parseTicks } from './cron.ts';

function next(schedule: string, after: string): string {
  return nextTime(parseTicks(schedule), new Date(after)).toISOString();
}

function field(from: number, to: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: from, max: to });
  return fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`),
    fc.uniqueArray(value, { minLength: 1, maxLength: 3 }).map((list) => list.join(',')),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  );
}

function fits({ times, weekdays }: Cron, at: Date): boolean {
  return times.includes(60 * at.getUTCHours() + at.getUTCMinutes()) && weekdays.has(at.getUTCDay());
}

describe('a schedule', () => {
  it.each([
    ['* * * * *', '2026-03-01T10:00:00Z', '2026-03-01T10:01:00.000Z'],
    ['* * * * *', '2026-03-01T10:00:59.999Z', '2026-03-01T10:01:00.000Z'],
    ['*/5 * * * *', '2026-03-01T10:03:20Z', '2026-03-01T10:05:00.000Z'],
    ['*/5 * * * *', '2026-03-01T23:55:00Z', '2026-03-02T00:00:00.000Z'],
    ['7,37 * * * *', '2026-03-01T10:07:00Z', '2026-03-01T10:37:00.000Z'],
    ['0 8-18/2 * * 1-5', '2026-03-06T18:00:00Z', '2026-03-09T08:00:00.000Z'],
    ['50/3 * * * *', '2026-03-01T10:57:00Z', '2026-03-01T10:59:00.000Z'],
    ['0 0 1 1 *', '2026-03-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 0 31 * *', '2026-03-31T00:00:00Z', '2026-05-31T00:00:00.000Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    // If both day and weekday are limited, either is enough; otherwise both must match.
    ['0 0 13 * 5', '2026-03-06T00:00:00Z', '2026-03-13T00:00:00.000Z'],
    ['0 0 15 * 5', '2026-03-13T00:00:00Z', '2026-03-15T00:00:00.000Z'],
    ['0 0 * * 0', '2026-03-01T00:00:00Z', '2026-03-08T00:00:00.000Z'],
    ['0 0 */1 * 0', '2026-03-01T00:00:00Z', '2026-03-08T00:00:00.000Z'],
  ])('%s after %s fires at %s', (schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  it('finds the same minute as a search through every minute', () => {
    const schedule = fc.tuple(field(0, 59), field(0, 23), field(0, 6));

    fc.assert(
      fc.property(schedule, fc.integer({ min: 0, max: 4e9 }), ([minute, hour, weekday], second) => {
        const cron = parseTicks(`${minute} ${hour} * * ${weekday}`);
        const found = nextTime(cron, new Date(second * 1000));

        let minutes = Math.floor(second / 60) + 1;
        while (!fits(cron, new Date(minutes * 60_000))) {
          minutes += 1;
        }
        expect(found).toEqual(new Date(minutes * 60_000));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['', 'expected 5 fields, got 0'],
    ['* * * *', 'expected 5 fields, got 4'],
    ['* * * * * *', 'expected 5 fields, got 6'],
    ['60 * * * *', '"60" is not a valid minute from 0 to 59'],
    ['* 24 * * *', '"24" is not a valid hour from 0 to 23'],
    ['* * 0 * *', '"0" is not a valid day of month from 1 to 31'],
    ['* * * 13 *', '"13" is not a valid month from 1 to 12'],
    ['* * * * 7', '"7" is not a valid day of week from 0 to 6'],
    ['*/0 * * * *', '"*/0" is not a valid minute'],
    ['30-10 * * * *', '"30-10" is not a valid minute'],
    ['1,,2 * * * *', '"" is not a valid minute'],
    ['1.5 * * * *', '"1.5" is not a valid minute'],
    ['* * * JANUARY *', '"JANUARY" is not a valid month'],
    ['0 0 30 2 *', 'no date matches'],
  ])('"%s" is refused: %s', (schedule, problem) => {
    expect(() => parseTicks(schedule)).toThrow(problem);
  });

  it('never hangs and never fires in the past, whatever the text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9*/,\- ]*$/), (text) => {
        const now = new Date('2026-03-01T10:00:00Z');
        try {
          expect(nextTime(parseTicks(text), now).getTime()).toBeGreaterThan(now.getTime());
        } catch (error) {
          expect(String(error)).toMatch(/schedule/);
        }
      }),
    );
  });
});
