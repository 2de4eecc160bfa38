import { describe, expect, it } from '@jest/globals';
import { zoneOf } from './zone.ts';

const hourMs = 3_600_000;

describe('a zone', () => {
  it.each([
    ['EST', -5],
    ['MST', -7],
    ['HST', -10],
    ['UTC', 0],
    ['GMT', 0],
    ['CET', 1],
    ['PRC', 8],
    ['EST5EDT', -5],
    ['GB', 0],
    ['Etc/GMT+12', -12],
    ['Europe/Kyiv', 2],
    ['', 0],
    ['Local', 0],
  ])('"%s" of the zone database is %s hours ahead in winter', (name, hours) => {
    expect(zoneOf(name).spanAt(Date.UTC(2026, 0, 15)).offset).toBe(hours * hourMs);
  });

  it.each([
    'BST',
    'AST',
    'ACT',
    'SST',
    'IST',
    'CST',
    'PST',
    'JST',
    'ECT',
    'bst',
    'SystemV/AST4',
    '+01:00',
    'Mars/Base',
  ])('"%s" is refused: Intl gives it an unexpected meaning, or no other system knows it', (name) => {
    expect(() => zoneOf(name)).toThrow(`unknown time zone ${name}`);
  });

  it.each([Number.NaN, Infinity])('has no offset at %s', (instant) => {
    expect(() => zoneOf('Europe/Berlin').spanAt(instant)).toThrow(RangeError);
  });

  it('stays the same however many others and however many years are asked for in between', () => {
    const berlin = zoneOf('Europe/Berlin').spanAt(Date.UTC(2026, 0, 15));
    for (const name of Intl.supportedValuesOf('timeZone').flatMap((each) => [each, each.toLowerCase()])) {
      zoneOf(name);
    }
    const zone = zoneOf('Europe/Berlin');
    for (let year = 1970; year < 2400; year += 1) {
      zone.spanAt(Date.UTC(year, 0, 15));
    }

    expect(zone.spanAt(Date.UTC(2026, 0, 15))).toEqual(berlin);
  });
});
