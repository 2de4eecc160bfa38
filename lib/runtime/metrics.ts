import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FunctionMetrics } from '../function/metrics.ts';

/** What every function counts, in one registry of the process. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<'function' | 'trigger' | 'result'>;
  readonly requestSeconds: Histogram<'function' | 'trigger'>;
  readonly runs: Counter<'function' | 'result'>;
  readonly drift: Counter<'function'>;
  readonly steps: Counter<'function' | 'do' | 'result'>;
  readonly skipped: Counter<'function'>;
  readonly start: Gauge<'function'>;
  readonly lastSuccess: Gauge<'function'>;
  readonly lastTick: Gauge<'function'>;
  readonly admissions: Counter<'function' | 'operation' | 'allowed'>;
  readonly admissionSeconds: Histogram<'function'>;
  readonly refusedReviews: Counter<'function' | 'code'>;
  readonly calls: Counter<'function' | 'verb' | 'resource' | 'code'>;
  readonly bytes: Counter<'function' | 'verb' | 'resource' | 'direction'>;
  readonly backgroundFailures: Counter<'function' | 'work'>;
  readonly unknownSettings: Gauge<'function'>;
}

const secondsBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  describeProcess(registry, version);
  return {
    registry,
    requests: new Counter({
      name: 'kube_reflex_requests_total',
      help: 'Requests by what woke the function and how they ended: ok, ignored or a failure kind.',
      labelNames: ['function', 'trigger', 'result'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'kube_reflex_request_seconds',
      help: 'Time to answer a request, waiting for its run included.',
      labelNames: ['function', 'trigger'],
      buckets: secondsBuckets,
      registers,
    }),
    runs: new Counter({
      name: 'kube_reflex_runs_total',
      help: 'Runs of handlers. Fewer than requests, since events that wait share a run.',
      labelNames: ['function', 'result'],
      registers,
    }),
    drift: new Counter({
      name: 'kube_reflex_drift_total',
      help: 'Ticks that found something to write: what the events before had failed to tell.',
      labelNames: ['function'],
      registers,
    }),
    steps: new Counter({
      name: 'kube_reflex_steps_total',
      help: 'Writes by kind and how they ended.',
      labelNames: ['function', 'do', 'result'],
      registers,
    }),
    skipped: new Counter({
      name: 'kube_reflex_skipped_total',
      help: 'What plans left alone for a reason.',
      labelNames: ['function'],
      registers,
    }),
    start: new Gauge({
      name: 'kube_reflex_start_timestamp_seconds',
      help: 'Since when the process waits for ticks; absent where none are meant to arrive.',
      labelNames: ['function'],
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'kube_reflex_last_success_timestamp_seconds',
      help: 'When a run last ended well.',
      labelNames: ['function'],
      registers,
    }),
    lastTick: new Gauge({
      name: 'kube_reflex_last_tick_timestamp_seconds',
      help: 'When a tick last arrived, however it ended.',
      labelNames: ['function'],
      registers,
    }),
    admissions: new Counter({
      name: 'kube_reflex_admissions_total',
      help: 'Admission requests by operation and verdict.',
      labelNames: ['function', 'operation', 'allowed'],
      registers,
    }),
    admissionSeconds: new Histogram({
      name: 'kube_reflex_admission_seconds',
      help: 'Time from a whole review to its verdict.',
      labelNames: ['function'],
      buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
      registers,
    }),
    refusedReviews: new Counter({
      name: 'kube_reflex_refused_reviews_total',
      help: 'Admission requests that were no review to be decided, by HTTP status.',
      labelNames: ['function', 'code'],
      registers,
    }),
    calls: new Counter({
      name: 'kube_reflex_api_calls_total',
      help: 'Calls to the Kubernetes API; code 0 when there was no answer.',
      labelNames: ['function', 'verb', 'resource', 'code'],
      registers,
    }),
    bytes: new Counter({
      name: 'kube_reflex_api_bytes_total',
      help: 'Bytes of bodies sent to and received from the Kubernetes API.',
      labelNames: ['function', 'verb', 'resource', 'direction'],
      registers,
    }),
    backgroundFailures: new Counter({
      name: 'kube_reflex_background_failures_total',
      help: 'Failures of loops, of work done later and of measuring the cluster.',
      labelNames: ['function', 'work'],
      registers,
    }),
    unknownSettings: new Gauge({
      name: 'kube_reflex_unknown_settings',
      help: 'Variables that are set for the function and that nothing reads; the log names them at the start.',
      labelNames: ['function'],
      registers,
    }),
  };
}

/** The few figures of the process that dashboards ask for, read when scraped: no timers, no observers. */
function describeProcess(registry: Registry, version: string): void {
  const registers = [registry];
  new Gauge({
    name: 'kube_reflex_build_info',
    help: 'Always 1; the labels say what runs.',
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

/** Counts and times verdicts. Labels are looked up once each, and a sender can't make up more of them. */
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

/** Metrics of one function, created at first use. */
export function functionMetrics(registry: Registry, functionName: string): FunctionMetrics {
  const prefix = `kube_reflex_${functionName.replaceAll('-', '_')}_`;
  return { ...metricsNamed(registry, prefix), inherited: metricsNamed(registry, '') };
}

function metricsNamed(registry: Registry, prefix: string): FunctionMetrics['inherited'] {
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
        const counter = new Counter({ name: prefix + name, help, labelNames, registers });
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
        const gauge = new Gauge({ name: prefix + name, help, labelNames, registers });
        return {
          set: (value, labels) => (labels === undefined ? gauge.set(value) : gauge.set(labels, value)),
          reset: () => gauge.reset(),
        };
      }),
    seconds: (name, help, { labels: labelNames = [], buckets = secondsBuckets } = {}) =>
      once(name, () => {
        const histogram = new Histogram({ name: prefix + name, help, labelNames, buckets: [...buckets], registers });
        return {
          observe: (seconds, labels) =>
            labels === undefined ? histogram.observe(seconds) : histogram.observe(labels, seconds),
        };
      }),
  };
}
