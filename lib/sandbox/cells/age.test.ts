import { describe, expect, it } from '@jest/globals';
import { humanDuration } from './age.ts';

describe('humanDuration', () => {
  it.each([
    [-5, '<invalid>'],
    [-0.5, '0s'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [125, '2m5s'],
    [600, '10m'],
    [3 * 3600 - 1, '179m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 60, '3h1m'],
    [8 * 3600, '8h'],
    [47 * 3600, '47h'],
    [49 * 3600, '2d1h'],
    [8 * 86_400, '8d'],
    [729 * 86_400, '729d'],
    [730 * 86_400, '2y'],
    [735 * 86_400, '2y5d'],
    [9 * 365 * 86_400, '9y'],
  ])('shows %p seconds as %p', (seconds, expected) => {
    expect(humanDuration(seconds)).toBe(expected);
  });
});
