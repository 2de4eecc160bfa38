/** Resolves after so many milliseconds, or at once when the signal ends the wait. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Pauses that double with each failure in a row. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Between half and all of the full pause, by chance, so that many who failed together do not come back together. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: Growth,
  random: () => number = Math.random,
): number {
  const full = Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
  return (full / 2) * (1 + random());
}
