import { expect, it } from '@jest/globals';
import { renderModes } from '../../functions/coredns-sync/render.ts';
import { injectJunk } from '../../functions/coredns-sync/testing/injection.ts';

it('CS-17 CS-18 of a million odd hosts, targets and annotations nothing but names reaches a written object', () => {
  const { texts, modes, served, foreign } = injectJunk(1_000_000);

  expect(foreign).toEqual([]);
  expect([...modes].sort()).toEqual([...renderModes].sort());
  expect([texts >= 1_000_000, served > 10_000]).toEqual([true, true]);
}, 600_000);
