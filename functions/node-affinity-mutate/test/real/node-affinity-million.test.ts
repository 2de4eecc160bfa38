import { expect, it } from '@jest/globals';
import { holdOut } from '../../testing/hold.ts';

it('NA-37 a million odd reviews never break a pod: each patch applies, once, and leaves every byte alone', () => {
  const { reviews, mutated, broken } = holdOut(1_000_000, 7);

  expect(broken).toEqual([]);
  expect([reviews, mutated > 100_000]).toEqual([1_000_000, true]);
}, 1_800_000);
