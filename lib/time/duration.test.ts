import { describe, expect, it } from '@jest/globals';
import { formatDuration, parseDuration } from './duration.ts';

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['-.5m', -30_000],
    ['+1500us', 1.5],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['100ns', 0.0001],
  ])('%s is %s ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '1', '1d', 'h', '1h ', '1.2.3s', '--1s'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow('is not a duration such as 90s');
  });

  it('of more than 292 years is refused, as Go does', () => {
    expect(() => parseDuration('2562048h')).toThrow('longer than 292 years');
  });

  it.each([
    [0, '0s'],
    [999, '0s'],
    [-999, '0s'],
    [59_000, '59s'],
    [60_000, '1m0s'],
    [3_600_000, '1h0m0s'],
    [-5_400_000, '-1h30m0s'],
  ])('of %s ms is written as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
