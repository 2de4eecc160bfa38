import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { editDistance, nearestWord } from './suggest.ts';

describe('the nearest word', () => {
  it.each([
    ['relase', 'release'],
    ['--prot', '--port'],
    ['dcotor', 'doctor'],
    ['Doctor', 'doctor'],
    ['nothing', undefined],
  ])('%s: %s', (given, meant) => {
    expect(nearestWord(given, ['release', 'doctor', 'start', '--port'])).toBe(meant);
  });

  it('is as far from a word as the word from it, and 0 only from itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(editDistance(one, other)).toBe(editDistance(other, one));
        expect(editDistance(one, other) === 0).toBe(one === other);
      }),
    );
  });
});
