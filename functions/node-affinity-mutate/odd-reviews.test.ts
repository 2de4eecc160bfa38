import { expect, it } from '@jest/globals';
import { long } from '../../test/support/long.ts';
import { holdOut } from './testing/hold.ts';

it('NA-37 NA-63 odd reviews never break a pod: each patch applies, once, and leaves every byte alone', () => {
  const inputs = long(1_000_000, 50_000);
  const { reviews, mutated, broken } = holdOut(inputs, 20_260_101);

  expect(broken).toEqual([]);
  expect([reviews, mutated > inputs / 10]).toEqual([inputs, true]);
}, 1_800_000);
