/** One result of a bench. Ratios travel between machines, milliseconds do not. */
export interface Figure {
  /** What was measured, against what. */
  readonly what: string;
  readonly value: number;
  /** Empty for a plain count. */
  readonly unit: '×' | 'MB' | 's' | '';
  readonly bar?: Bar;
  /** The absolute values behind it, for this machine and this day. */
  readonly measured: string;
}

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

/** A file of this folder: `run` measures, `about` says in one line what. */
export interface Bench {
  readonly about: string;
  readonly run: () => Promise<readonly Figure[]>;
}

export function meets({ value, bar }: Figure): boolean {
  if (bar === undefined) {
    return true;
  }
  return 'atMost' in bar ? value <= bar.atMost : value >= bar.atLeast;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2;
}

/** Compares values that were measured in turns: the median of the ratios, since a busy moment hits both of a pair. */
export function ratio(values: readonly number[], floor: readonly number[]): number {
  return median(values.map((value, index) => value / (floor[index] ?? Number.NaN)));
}
