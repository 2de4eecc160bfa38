/** Where a function counts what it does. Names get the function's prefix: `hosts_total` → `kube_reflex_<function>_hosts_total`. */
export interface FunctionMetrics {
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ) => Counter<Label>;
  readonly gauge: <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => Gauge<Label>;
  /** Durations in seconds, in the buckets that requests have unless told otherwise. */
  readonly seconds: <Label extends string = never>(
    name: string,
    help: string,
    options?: HistogramOptions<Label>,
  ) => Histogram<Label>;
  /** The same without a prefix, for names that dashboards know from the system that a function replaces. */
  readonly inherited: Omit<FunctionMetrics, 'inherited'>;
}

export interface HistogramOptions<Label extends string> {
  readonly labels?: readonly Label[];
  readonly buckets?: readonly number[];
}

export type LabelValues<Label extends string> = Readonly<Partial<Record<Label, string | number>>>;

export interface Counter<Label extends string> {
  readonly add: (amount?: number, labels?: LabelValues<Label>) => void;
  /** The same for labels that are looked up once and not at each count, as on the path of every review. */
  readonly with: (labels: LabelValues<Label>) => Tally;
}

export interface Tally {
  readonly add: (amount?: number) => void;
}

export interface Gauge<Label extends string> {
  readonly set: (value: number, labels?: LabelValues<Label>) => void;
  /** Forgets all values, so that what no longer exists is no longer told. */
  readonly reset: () => void;
}

export interface Histogram<Label extends string> {
  readonly observe: (seconds: number, labels?: LabelValues<Label>) => void;
}
