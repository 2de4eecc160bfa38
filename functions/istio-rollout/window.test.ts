import { describe, expect, it } from '@jest/globals';
import { nextOpening, parseWindows } from './window.ts';

function opening(windows: string, now: string): string {
  return nextOpening(parseWindows(windows), new Date(now)).toISOString().replace('.000Z', 'Z');
}

describe('windows', () => {
  // 2026-03-02 is a Monday.
  it.each([
    ['', '2026-03-02T12:00:00Z', '2026-03-02T12:00:00Z'],
    ['22:00-23:00', '2026-03-02T12:00:00Z', '2026-03-02T22:00:00Z'],
    ['22:00-23:00', '2026-03-02T22:59:59Z', '2026-03-02T22:59:59Z'],
    ['22:00-23:00', '2026-03-02T23:00:00Z', '2026-03-03T22:00:00Z'],
    ['Mon-Fri 22:00-04:00', '2026-03-07T03:00:00Z', '2026-03-07T03:00:00Z'],
    ['Mon-Fri 22:00-04:00', '2026-03-07T04:00:00Z', '2026-03-09T22:00:00Z'],
    ['Sat-Sun 00:00-04:00 Europe/Berlin', '2026-03-02T12:00:00Z', '2026-03-06T23:00:00Z'],
    ['Sun 00:00-24:00; Tue 10:00-11:00', '2026-03-02T12:00:00Z', '2026-03-03T10:00:00Z'],
    ['Fri-Mon 10:00-11:00', '2026-03-03T12:00:00Z', '2026-03-06T10:00:00Z'],
  ])('%j is open next after %s at %s', (windows, now, next) => {
    expect(opening(windows, now)).toBe(next);
  });

  it.each([
    // Clocks in Berlin skip from 02:00 to 03:00 on 29 March 2026, and show 02:00 to 03:00 twice on 25 October.
    ['Sun 02:30-05:00 Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00Z'],
    ['Sun 01:00-05:00 Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T00:00:00Z'],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z'],
    ['Sun 03:00-04:00 Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T02:00:00Z'],
  ])('%j follows the clocks when they change', (windows, now, next) => {
    expect(opening(windows, now)).toBe(next);
  });

  it.each(['Sat', 'Sat-Sun 25:00-26:00', 'Someday 10:00-11:00', '10:00-11:00 Nowhere/Town', '10:61-11:00'])(
    'refuses %j',
    (windows) => {
      expect(() => parseWindows(windows)).toThrow();
    },
  );
});
