import { expect, it } from '@jest/globals';
import { injectJunk } from '../../functions/coredns-sync/testing/injection.ts';

it('CS-17 CS-18 of a million odd hosts, targets and annotations nothing but names reaches a written object', () => {
  const { texts, served, foreign } = injectJunk(1_000_000);

  expect(foreign).toEqual([]);
  expect([texts >= 1_000_000, served > 10_000]).toEqual([true, true]);
}, 600_000);
