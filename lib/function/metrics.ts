/** Creates the metrics of a function. Names get its prefix: `hosts_total` → `kube_reflex_<function>_hosts_total`. */
export interface FunctionMetrics {
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ) => Counter<Label>;
  readonly gauge: <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => Gauge<Label>;
  /** A histogram of seconds. Default: the buckets of request durations. */
  readonly seconds: <Label extends string = never>(
    name: string,
    help: string,
    options?: HistogramOptions<Label>,
  ) => Histogram<Label>;
  /** The same without a prefix, for the metric names of a system that the function replaces. */
  readonly inherited: Omit<FunctionMetrics, 'inherited'>;
}

export interface HistogramOptions<Label extends string> {
  readonly labels?: readonly Label[];
  readonly buckets?: readonly number[];
}

export type LabelValues<Label extends string> = Readonly<Partial<Record<Label, string | number>>>;

export interface Counter<Label extends string> {
  readonly add: (amount?: number, labels?: LabelValues<Label>) => void;
  /** The counter with fixed labels, looked up once instead of at each count, for the path of every review. */
  readonly with: (labels: LabelValues<Label>) => Tally;
}

export interface Tally {
  readonly add: (amount?: number) => void;
}

export interface Gauge<Label extends string> {
  readonly set: (value: number, labels?: LabelValues<Label>) => void;
  /** Removes all values, so that objects that no longer exist are no longer reported. */
  readonly reset: () => void;
}

export interface Histogram<Label extends string> {
  readonly observe: (seconds: number, labels?: LabelValues<Label>) => void;
}
