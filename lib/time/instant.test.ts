import { describe, expect, it } from '@jest/globals';
import { formatInstant, parseInstant } from './instant.ts';

describe('an instant', () => {
  it.each(['2026-12-24T00:00:00Z', '2026-12-24T01:00:00+01:00', '2024-02-29T00:00:00.5Z'])('%s is one', (text) => {
    expect(parseInstant(text)).toBe(Date.parse(text));
  });

  it.each(['', 'today', '2026-12-24', '2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-12-24T24:00:00Z'])(
    '%j is none',
    (text) => {
      expect(() => parseInstant(text)).toThrow('is not a time such as 2026-12-24T00:00:00Z');
    },
  );

  it('is written in whole seconds of UTC', () => {
    expect(formatInstant(Date.parse('2026-12-24T01:00:00.999+01:00'))).toBe('2026-12-24T00:00:00Z');
  });
});
