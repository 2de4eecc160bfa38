import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseDuration } from '../../lib/time/duration.ts';
import { lastFiring, parseSchedule } from '../../lib/time/schedule.ts';
import { readMaintenanceWindow, type Rule } from './rule.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

type Given = readonly [schedule: string, duration: string];

function policy(timezone: string, windows: readonly Given[]): Rule {
  return readMaintenanceWindow({
    metadata: { name: 'windows' },
    spec: {
      timezone,
      mode: 'DenyInsideWindows',
      windows: windows.map(([schedule, duration], index) => ({ name: `w${index}`, schedule, duration })),
      target: { kinds: ['Deployment'] },
      rules: { deny: ['ROLL_OUT'] },
    },
  });
}

/** Whether any of the windows is open, by the definition: some firing is no longer ago than the window lasts. */
function openness(zone: string, windows: readonly Given[]): (at: number) => boolean {
  const read = windows.map(([schedule, duration]) => ({
    schedule: parseSchedule(schedule, zone),
    length: parseDuration(duration),
  }));
  return (at) =>
    read.some(({ schedule, length }) => at - (lastFiring(schedule, at - 40 * dayMs, at + 1) ?? -Infinity) < length);
}

/** Of this process: unlike time on the clock, hardly more on a busy machine. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}

const aroundChanges = ['2026-03-28T00:00:00Z', '2026-06-15T12:00:30Z', '2026-10-24T00:00:00Z'].map((time) =>
  Date.parse(time),
);

const anyWindow = fc.tuple(
  fc.constantFrom(
    '* * * * *',
    '*/2 * * * *',
    '1-59/2 * * * *',
    '0 * * * *',
    '30 * * * *',
    '0 0 * * *',
    '*/2 * * * 1-5',
    '1-59/2 * * * 0,6',
    '0 12 28 * *',
    'CRON_TZ=Asia/Tokyo */3 * * * *',
    'CRON_TZ=Australia/Lord_Howe 15,45 * * * *',
  ),
  fc.constantFrom('100ns', '59.9995s', '1m', '2m', '30m', '24h', '30h'),
);

describe('the next turn of a policy', () => {
  it('is the minute, or the end of an opening, at which a search through all of them finds it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('UTC', 'Europe/Berlin'),
        fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...aroundChanges),
        (zone, windows, now) => {
          const isOpen = openness(zone, windows);
          const was = isOpen(now);

          const turn = policy(zone, windows).turnAfter(now) ?? Infinity;

          const to = Math.min(turn, now + 2 * dayMs);
          const beginsAt = Math.ceil(now / minuteMs) * minuteMs;
          const minutes = Array.from(
            { length: Math.ceil((to - beginsAt) / minuteMs) },
            (_, n) => beginsAt + n * minuteMs,
          );
          expect(minutes.filter((at) => isOpen(at) !== was)).toEqual([]);
          if (turn < Infinity) {
            expect([turn - 1, turn].map((at) => isOpen(at))).toEqual([was, !was]);
          }
        },
      ),
      { numRuns: 60, seed: 8 },
    );
  });

  it.each<readonly [string, readonly Given[]]>([
    [
      'two windows that take turns every minute',
      [
        ['*/2 * * * *', '1m'],
        ['1-59/2 * * * *', '1m'],
      ],
    ],
    [
      'the same on different days and in different zones',
      [
        ['*/2 * * * 1-5', '1m'],
        ['CRON_TZ=Asia/Tokyo */2 * * * *', '1m'],
        ['1-59/2 * * * *', '1m'],
      ],
    ],
    [
      'two windows that take turns every half hour',
      [
        ['0 * * * *', '30m'],
        ['30 * * * *', '30m'],
      ],
    ],
    ['twenty that follow each other', Array.from({ length: 20 }, (_, n): Given => [`${n}-59/20 * * * *`, '1m'])],
    ['a window of each minute', [['* * * * *', '1m']]],
    ['a window of each hour', [['0 * * * *', '1h']]],
  ])('is found to be nowhere in a small part of a second for %s, and is then known for a day', (_what, windows) => {
    const now = Date.parse('2026-06-15T00:00:00Z');
    const rule = policy('Europe/Berlin', windows);

    const [first, rest] = [
      cpuMsOf(() => expect(rule.turnAfter(now)).toBeUndefined()),
      cpuMsOf(() => Array.from({ length: 1440 }, (_, minute) => rule.turnAfter(now + minute * minuteMs))),
    ];

    // Stepping from minute to minute took seconds, and that again in each of them.
    expect(first).toBeLessThan(2000);
    expect(rest).toBeLessThan(2000);
  });

  it('of openings shorter than a millisecond is the next one', () => {
    const now = Date.parse('2026-06-15T12:00:30Z');

    expect(policy('UTC', [['* * * * *', '100ns']]).turnAfter(now)).toBe(now + 30_000);
    expect(policy('UTC', [['* * * * *', '100ns']]).turnAfter(now + 30_000)).toBe(now + 30_001);
  });
});
