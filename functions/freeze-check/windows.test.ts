import { describe, expect, it } from '@jest/globals';
import { formatInstant } from '../../lib/time/instant.ts';
import type { MaintenanceWindowSpec, Window } from './policy.ts';
import { readMaintenanceWindow, type Rule } from './rule.ts';
import { ruleState } from './state.ts';

type Given = Partial<Window> & Pick<Window, 'schedule' | 'duration'>;

function policy(timezone: string, ...windows: readonly Given[]): Rule {
  const spec: MaintenanceWindowSpec = {
    timezone,
    mode: 'DenyOutsideWindows',
    windows: windows.map((window, index) => ({ name: `w${index}`, ...window })),
    target: { kinds: ['Deployment'] },
    rules: { deny: ['ROLL_OUT'] },
  };
  return readMaintenanceWindow({ metadata: { name: 'windows' }, spec });
}

/** `open`, or `closed` with the next start if there is one. */
function stateAt(rule: Rule, time: string): string {
  const { active, denying, nextWindow } = ruleState(rule, Date.parse(time));
  expect(denying).toBe(!active);
  return active ? 'open' : `closed → ${nextWindow?.startTime ?? 'never'}`;
}

type Row = readonly [string, string, string, string, readonly (readonly [string, string])[]];

describe('a window', () => {
  it.each<Row>([
    [
      'FC-33',
      'UTC',
      '0 22 * * *',
      '4h',
      [
        ['2026-06-15T21:59:59.999Z', 'closed → 2026-06-15T22:00:00Z'],
        ['2026-06-15T22:00:00Z', 'open'],
        ['2026-06-16T01:30:00Z', 'open'],
        ['2026-06-16T02:00:00Z', 'closed → 2026-06-16T22:00:00Z'],
      ],
    ],
    [
      'FC-34',
      'UTC',
      '0 22 31 12 *',
      '6h',
      [
        ['2027-01-01T02:00:00Z', 'open'],
        ['2027-01-01T03:59:59.999Z', 'open'],
        ['2027-01-01T04:00:00Z', 'closed → 2027-12-31T22:00:00Z'],
      ],
    ],
    [
      'FC-35',
      'Europe/Berlin',
      '0 1 * * *',
      '6h',
      [
        ['2026-03-29T05:30:00Z', 'open'],
        ['2026-03-29T06:00:00Z', 'closed → 2026-03-29T23:00:00Z'],
      ],
    ],
    [
      'FC-36',
      'Europe/Berlin',
      '0 1 * * *',
      '6h',
      [
        ['2026-10-25T04:59:00Z', 'open'],
        ['2026-10-25T05:00:00Z', 'closed → 2026-10-26T00:00:00Z'],
      ],
    ],
    ['FC-37', 'Europe/Berlin', '30 2 * * *', '1h', [['2026-03-29T01:15:00Z', 'closed → 2026-03-30T00:30:00Z']]],
    [
      'FC-38',
      'Europe/Berlin',
      '30 2 * * *',
      '30m',
      [
        ['2026-10-25T00:45:00Z', 'open'],
        ['2026-10-25T01:15:00Z', 'closed → 2026-10-25T01:30:00Z'],
        ['2026-10-25T01:45:00Z', 'open'],
      ],
    ],
    ['FC-39', 'America/New_York', '0 2 * * *', '1h', [['2026-03-07T17:00:00Z', 'closed → 2026-03-09T06:00:00Z']]],
    [
      'FC-40',
      'America/New_York',
      '0 1 * * *',
      '1h',
      [
        ['2026-11-01T04:59:59.999Z', 'closed → 2026-11-01T05:00:00Z'],
        ['2026-11-01T05:00:00Z', 'open'],
        ['2026-11-01T05:59:59.999Z', 'open'],
        ['2026-11-01T06:00:00Z', 'open'],
        ['2026-11-01T06:59:59.999Z', 'open'],
        ['2026-11-01T07:00:00Z', 'closed → 2026-11-02T06:00:00Z'],
      ],
    ],
    ['FC-41', 'America/Santiago', '0 0 * * *', '2h', [['2026-09-05T12:00:00Z', 'closed → 2026-09-07T03:00:00Z']]],
    [
      'FC-42',
      'UTC',
      '* * * * *',
      '1m',
      [
        ['2026-06-15T21:59:59.999Z', 'open'],
        ['2026-06-15T22:00:00Z', 'open'],
      ],
    ],
    [
      'FC-42',
      'UTC',
      '*/2 * * * *',
      '2m',
      [
        ['2026-06-15T21:59:59.999Z', 'open'],
        ['2026-06-15T22:01:30Z', 'open'],
      ],
    ],
    [
      'FC-43',
      'UTC',
      '0 0 1 * *',
      '480h',
      [
        ['2026-06-16T00:00:00Z', 'open'],
        ['2026-06-20T23:59:59.999Z', 'open'],
        ['2026-06-21T00:00:00Z', 'closed → 2026-07-01T00:00:00Z'],
      ],
    ],
    [
      'FC-44',
      'UTC',
      '0 * * * *',
      '90m',
      [
        ['2026-06-16T00:29:59Z', 'open'],
        ['2026-06-16T00:59:59Z', 'open'],
      ],
    ],
    ['FC-45', 'Europe/Berlin', 'CRON_TZ=Asia/Tokyo 0 3 * * *', '1h', [['2026-06-15T18:30:00Z', 'open']]],
    [
      'FC-46',
      'UTC',
      '0 0 13 * 5',
      '24h',
      [
        ['2026-10-13T12:00:00Z', 'open'],
        ['2026-10-16T12:00:00Z', 'open'],
        ['2026-10-14T12:00:00Z', 'closed → 2026-10-16T00:00:00Z'],
      ],
    ],
    ['FC-47', 'UTC', '0 0 30 2 *', '1h', [['2026-06-16T00:00:00Z', 'closed → never']]],
    ['FC-48', 'UTC', '0 0 29 2 *', '1h', [['2026-06-16T00:00:00Z', 'closed → 2028-02-29T00:00:00Z']]],
  ])('%s in %s by "%s" for %s', (_case, zone, schedule, duration, states) => {
    const rule = policy(zone, { schedule, duration });

    expect(states.map(([time]) => [time, stateAt(rule, time)])).toEqual(states);
  });

  it('FC-37 that the clocks skip opens when they go forward, if asked for', () => {
    const rule = policy('Europe/Berlin', { schedule: '30 2 * * *', duration: '1h', onSkipped: 'NextValid' });

    expect(
      ['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z', '2026-03-29T01:59:59Z', '2026-03-29T02:00:00Z'].map((time) =>
        stateAt(rule, time),
      ),
    ).toEqual(['closed → 2026-03-29T01:00:00Z', 'open', 'open', 'closed → 2026-03-30T00:30:00Z']);
  });

  it('FC-47 that never opens is told in less than 5 ms', () => {
    const rule = policy('UTC', { schedule: '0 0 30 2 *', duration: '1h' });

    // The best of some: on a busy machine any single one may be interrupted.
    const took = Array.from({ length: 10 }, (_, index) => {
      const started = performance.now();
      expect(rule.turnAfter(Date.UTC(2026, index))).toBeUndefined();
      return performance.now() - started;
    });

    expect(Math.min(...took)).toBeLessThan(5);
  });

  it('FC-49 among others: one that is open is enough', () => {
    const rule = policy('UTC', { schedule: '0 8 * * *', duration: '4h' }, { schedule: '0 10 * * *', duration: '4h' });

    expect(stateAt(rule, '2026-06-15T13:00:00Z')).toBe('open');
    expect(stateAt(rule, '2026-06-15T14:00:00Z')).toBe('closed → 2026-06-16T08:00:00Z');
    expect(ruleState(rule, Date.parse('2026-06-15T09:00:00Z'))).toMatchObject({
      until: Date.parse('2026-06-15T14:00:00Z'),
      activeWindow: { name: 'w0', startTime: '2026-06-15T08:00:00Z', endTime: '2026-06-15T12:00:00Z' },
      nextWindow: { name: 'w1', startTime: '2026-06-15T10:00:00Z', endTime: '2026-06-15T14:00:00Z' },
    });
  });

  it('FC-50 that can not be read is closed, and the others count', () => {
    const rule = policy('UTC', { schedule: 'x', duration: '4h' }, { schedule: '0 10 * * *', duration: '4h' });

    expect(stateAt(rule, '2026-06-15T09:00:00Z')).toBe('closed → 2026-06-15T10:00:00Z');
    expect(stateAt(rule, '2026-06-15T10:00:00Z')).toBe('open');
    expect(rule.problems).toHaveLength(1);
  });

  it.each([
    ['* * * * 1-5', '1m', '2026-06-15T12:00:00Z', '2026-06-20T00:00:00Z'],
    ['*/5 9-16 * * *', '5m', '2026-06-15T12:00:00Z', '2026-06-15T17:00:00Z'],
    ['0 * * * *', '90m', '2026-06-15T12:00:00Z', undefined],
    ['0 0 * * *', '23h', '2026-06-15T12:00:00Z', '2026-06-15T23:00:00Z'],
  ])(
    'of "%s" for %s closes when the last of its openings ends, however many there are',
    (schedule, duration, now, end) => {
      const { until } = ruleState(policy('UTC', { schedule, duration }), Date.parse(now));

      expect(until === undefined ? undefined : formatInstant(until)).toBe(end?.replace('.000', ''));
    },
  );
});
