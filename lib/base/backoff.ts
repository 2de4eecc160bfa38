/** Pauses that double with each failure in a row. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Between half and all of the full pause, at random, so that callers that failed together do not return together. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: Growth,
  random: () => number = Math.random,
): number {
  const full = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
  return (full / 2) * (1 + random());
}
