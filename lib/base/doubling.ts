/** Pauses that double with each failure in a row. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after so many failures: 1 s, 2 s, 4 s … for a first one of 1 s. */
export function doublingMs(failures: number, { firstMs, longestMs }: Growth): number {
  return Math.min(firstMs * 2 ** Math.max(failures - 1, 0), longestMs);
}
