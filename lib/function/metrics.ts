/** Where a function counts what it does. Names get the function's prefix: `hosts_total` → `kube_reflex_<function>_hosts_total`. */
export interface FunctionMetrics {
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ) => Counter<Label>;
  readonly gauge: <Label extends string = never>(name: string, help: string, labels?: readonly Label[]) => Gauge<Label>;
  /** Durations in seconds, in the buckets that requests have. */
  readonly seconds: (name: string, help: string) => Histogram;
}

export type LabelValues<Label extends string> = Readonly<Partial<Record<Label, string | number>>>;

export interface Counter<Label extends string> {
  readonly add: (amount?: number, labels?: LabelValues<Label>) => void;
}

export interface Gauge<Label extends string> {
  readonly set: (value: number, labels?: LabelValues<Label>) => void;
}

export interface Histogram {
  readonly observe: (seconds: number) => void;
}
