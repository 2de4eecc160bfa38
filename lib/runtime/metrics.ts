import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FunctionMetrics } from '../function/metrics.ts';

/** The metrics that every function has, in one registry of the process. */
export type Metrics = { readonly registry: Registry } & Readonly<
  ReturnType<typeof runMetrics> & ReturnType<typeof admissionMetrics> & ReturnType<typeof apiMetrics>
>;

const prefix = 'kube_reflex_';
const secondsBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  describeProcess(registry, version);
  return { registry, ...runMetrics(registry), ...admissionMetrics(registry), ...apiMetrics(registry) };
}

/** Metrics of triggers and runs. */
function runMetrics(registry: Registry) {
  const { counter, gauge, histogram } = makers(registry);
  return {
    requests: counter('requests_total', 'Requests by trigger and result: ok, ignored or a failure kind.', [
      'function',
      'trigger',
      'result',
    ]),
    requestSeconds: histogram('request_seconds', 'Time to answer a request, including the wait for its run.', [
      'function',
      'trigger',
    ]),
    runs: counter('runs_total', 'Runs of handlers. Fewer than requests, since events that wait share a run.', [
      'function',
      'result',
    ]),
    drift: counter('drift_total', 'Ticks that had to write something because an event was missed.', ['function']),
    steps: counter('steps_total', 'Writes by kind and result.', ['function', 'do', 'result']),
    skipped: counter('skipped_total', 'What plans skipped for a reason.', ['function']),
    start: gauge('start_timestamp_seconds', 'Since when the process expects ticks; absent if it expects none.', [
      'function',
    ]),
    lastSuccess: gauge('last_success_timestamp_seconds', 'When a run last succeeded.', ['function']),
    lastTick: gauge('last_tick_timestamp_seconds', 'When a tick last arrived, whether or not it succeeded.', [
      'function',
    ]),
    backgroundFailures: counter(
      'background_failures_total',
      'Failures of loops, of work for later and of measuring the cluster.',
      ['function', 'work'],
    ),
    conditions: gauge('condition', '1 while the condition holds; the README of the function says what to do.', [
      'function',
      'type',
      'severity',
    ]),
  };
}

function admissionMetrics(registry: Registry) {
  const { counter, histogram } = makers(registry);
  return {
    admissions: counter('admissions_total', 'Admission requests by operation and verdict.', [
      'function',
      'operation',
      'allowed',
    ]),
    admissionSeconds: histogram(
      'admission_seconds',
      'Time from a complete review to its verdict.',
      ['function'],
      [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    ),
    refusedReviews: counter(
      'refused_reviews_total',
      'Admission requests that were not valid reviews, by HTTP status.',
      ['function', 'code'],
    ),
  };
}

function apiMetrics(registry: Registry) {
  const { counter } = makers(registry);
  return {
    calls: counter('api_calls_total', 'Calls to the Kubernetes API; code 0 if there was no answer.', [
      'function',
      'verb',
      'resource',
      'code',
    ]),
    bytes: counter('api_bytes_total', 'Bytes of bodies sent to and received from the Kubernetes API.', [
      'function',
      'verb',
      'resource',
      'direction',
    ]),
  };
}

/** Creates metrics with the common prefix. */
function makers(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Counter<Label>({ name: prefix + name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Gauge<Label>({ name: prefix + name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: Label[], buckets = secondsBuckets) =>
      new Histogram<Label>({ name: prefix + name, help, labelNames, buckets, registers }),
  };
}

/** A few metrics of the process, read when scraped: no timers, no observers. */
function describeProcess(registry: Registry, version: string): void {
  const registers = [registry];
  new Gauge({
    name: 'kube_reflex_build_info',
    help: 'Always 1; the labels name the version.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1);
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start of the process since the epoch.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
}

const operations: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/**
 * Counts and times verdicts. Caches each combination of labels; unknown operations share one label, so a sender cannot
 * create series.
 */
export function admissionCounter(
  { admissions, admissionSeconds }: Pick<Metrics, 'admissions' | 'admissionSeconds'>,
  functionName: string,
): (operation: string, allowed: boolean, ms: number) => void {
  const seconds = admissionSeconds.labels(functionName);
  const counters = new Map<string, { readonly inc: () => void }>();
  return (operation, allowed, ms) => {
    const known = operations.has(operation) ? operation : 'other';
    const key = allowed ? known : `not ${known}`;
    const counter = counters.get(key) ?? admissions.labels(functionName, known, String(allowed));
    counters.set(key, counter);
    counter.inc();
    seconds.observe(ms / 1000);
  };
}

/** The metrics of one function, created at first use. */
export function functionMetrics(registry: Registry, functionName: string): FunctionMetrics {
  const own = `${prefix}${functionName.replaceAll('-', '_')}_`;
  return { ...metricsNamed(registry, own), inherited: metricsNamed(registry, '') };
}

function metricsNamed(registry: Registry, start: string): FunctionMetrics['inherited'] {
  const registers = [registry];
  const made = new Map<string, unknown>();

  function once<T>(name: string, make: () => T): T {
    const existing = made.get(name);
    if (existing !== undefined) {
      return existing as T;
    }
    const fresh = make();
    made.set(name, fresh);
    return fresh;
  }

  return {
    counter: (name, help, labelNames = []) =>
      once(name, () => {
        const counter = new Counter({ name: start + name, help, labelNames, registers });
        return {
          add: (amount = 1, labels) => (labels === undefined ? counter.inc(amount) : counter.inc(labels, amount)),
          with: (labels) => {
            const child = counter.labels(labels);
            return { add: (amount = 1) => child.inc(amount) };
          },
        };
      }),
    gauge: (name, help, labelNames = []) =>
      once(name, () => {
        const gauge = new Gauge({ name: start + name, help, labelNames, registers });
        return {
          set: (value, labels) => (labels === undefined ? gauge.set(value) : gauge.set(labels, value)),
          reset: () => gauge.reset(),
        };
      }),
    seconds: (name, help, { labels: labelNames = [], buckets = secondsBuckets } = {}) =>
      once(name, () => {
        const histogram = new Histogram({ name: start + name, help, labelNames, buckets: [...buckets], registers });
        return {
          observe: (seconds, labels) =>
            labels === undefined ? histogram.observe(seconds) : histogram.observe(labels, seconds),
        };
      }),
  };
}
