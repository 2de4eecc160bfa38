import { describe, expect, it } from '@jest/globals';
import { parseCron } from './cron.ts';

describe('a schedule', () => {
  it.each([
    ['1,'.repeat(501), 'schedule of 1002 characters: expected at most 1000'],
    ['', 'expected 5 fields, got 0'],
    ['* * * *', 'expected 5 fields, got 4'],
    ['60 * * * *', '"60" is not a valid minute from 0 to 59'],
    ['5-1 * * * *', '"5-1" is not a valid minute from 0 to 59'],
    ['*/0 * * * *', '"*/0" is not a valid minute from 0 to 59'],
    ['* * * smarch *', '"smarch" is not a valid month from 1 to 12'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseCron(text)).toThrow(message);
  });

  it('takes names and the end of a field', () => {
    const { months, weekdays, times } = parseCron('50/5 3 * jan-mar mon');

    expect([[...months], [...weekdays], times]).toEqual([[1, 2, 3], [1], [230, 235]]);
  });
});
