import { doublingMs, type Growth } from './doubling.ts';

/** A random pause between half and all of `doublingMs`, so that callers that failed together do not retry together. */
export function backoffMs(failures: number, growth: Growth, random: () => number = Math.random): number {
  return (doublingMs(failures, growth) / 2) * (1 + random());
}
