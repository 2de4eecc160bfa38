import { expect, it } from '@jest/globals';
import { long } from '../../test/support/long.ts';
import { holdOut } from './testing/hold.ts';

it('NA-37 NA-63 odd reviews never break a pod: each patch applies, once, and leaves every byte alone', () => {
  const { mutated, broken } = holdOut(long(1_000_000, 50_000), 20_260_101);

  expect(broken).toEqual([]);
  expect(mutated).toBeGreaterThan(5_000);
});
