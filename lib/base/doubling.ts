/** Pauses that double with each failure in a row. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after this number of failures: with `firstMs: 1000` it is 1 s, 2 s, 4 s … up to `longestMs`. */
export function doublingMs(failures: number, { firstMs, longestMs }: Growth): number {
  return Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
}
