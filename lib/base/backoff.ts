import { doublingMs, type Growth } from './doubling.ts';

/** Between half and all of the doubled pause, at random, so that callers that failed together do not return together. */
export function backoffMs(failures: number, growth: Growth, random: () => number = Math.random): number {
  return (doublingMs(failures, growth) / 2) * (1 + random());
}
