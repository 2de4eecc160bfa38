import type { Logger } from 'pino';
import type { Context, Definition, Later } from '../function/definition.ts';
import type { Handler, Wake } from '../function/triggers.ts';
import { asFailure, type Failure } from '../base/failure.ts';
import type { Step } from '../kube/model/plan.ts';
import { createKube, type Call } from '../kube/client.ts';
import type { Transport } from '../kube/transport.ts';
import { functionMetrics, type Metrics } from './metrics.ts';
import { pause } from '../base/pause.ts';
import type { FunctionSettings } from '../function/settings.ts';
import { withinTime } from '../base/time-limit.ts';

export interface RunnerOptions<C> {
  readonly definition: Definition<C>;
  readonly config: C;
  readonly settings: FunctionSettings;
  readonly transport: Transport;
  readonly namespace: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => Date;
  /** The clock of the machine, where `now` is not. */
  readonly machineNow?: (() => Date) | undefined;
  readonly later: Later<C>;
  /** Told of each API call, for tests of what an event costs. */
  readonly observe?: ((call: Call) => void) | undefined;
}

/** Runs handlers of one function against the cluster. */
export interface Runner<C> {
  /**
   * Runs the handler to its end; a lost optimistic lock starts it over from its reads. A handler that goes on for long
   * after its signal is given up, or it would block its lane for ever; preconditions guard what it may still write.
   */
  readonly run: (handler: Handler<C>, wake: Wake) => Promise<Report>;
  /** A context for one request or loop that may take so long. */
  readonly context: (signal: AbortSignal, report?: Report) => Context<C>;
}

/** What a run did and cost. */
export interface Report {
  readonly steps: string[];
  calls: number;
}

const tries = 3;

export function createRunner<C>(options: RunnerOptions<C>): Runner<C> {
  const { definition, config, settings, transport, namespace, metrics, log, now, machineNow, later, observe } = options;
  const ownMetrics = functionMetrics(metrics.registry, definition.name);
  const labels = { function: definition.name };
  const limitMs = settings.TIMEOUT_SECONDS * 1000;

  function context(signal: AbortSignal, report: Report = { steps: [], calls: 0 }): Context<C> {
    const kube = createKube({
      transport,
      signal,
      log,
      now,
      ...(machineNow && { machineNow }),
      fieldManager: `kube-reflex.dev/${definition.name}`,
      ...(settings.DRY_RUN && definition.ownDryRun !== true ? { dryRun: 'plan' } : {}),
      observe: (call) => {
        report.calls += 1;
        count(metrics, definition.name, call);
        observe?.(call);
      },
      onStep: (step, result) => {
        metrics.steps.inc({ ...labels, do: step.do, result });
        if (result === 'ok' || result === 'dry-run') {
          report.steps.push(result === 'ok' ? summary(step) : `would ${summary(step)}`);
        }
      },
      onSkipped: () => metrics.skipped.inc(labels),
    });
    return { config, kube, log, metrics: ownMetrics, namespace, now, signal, later };
  }

  async function run(handler: Handler<C>, wake: Wake): Promise<Report> {
    const report: Report = { steps: [], calls: 0 };
    const signal = AbortSignal.timeout(limitMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await withinTime(handler(context(signal, report), wake), 2 * limitMs, 'the handler ignored its time limit');
        metrics.runs.inc({ ...labels, result: 'ok' });
        metrics.lastSuccess.set(labels, now().getTime() / 1000);
        if (wake.tick && wake.subjects.length === 0 && report.steps.length > 0) {
          metrics.drift.inc(labels);
        }
        return report;
      } catch (error) {
        const failure = asFailure(error);
        if (failure.kind !== 'conflict' || attempt === tries || signal.aborted) {
          metrics.runs.inc({ ...labels, result: failure.kind });
          throw failure;
        }
        await jitter(attempt);
      }
    }
  }

  return { run, context };
}

/** Two writers that met once should not meet again. */
function jitter(attempt: number): Promise<void> {
  return pause(Math.random() * 25 * 2 ** attempt);
}

function count(
  { calls, bytes }: Metrics,
  name: string,
  { verb, resource, code, sentBytes, receivedBytes }: Call,
): void {
  calls.inc({ function: name, verb, resource, code });
  bytes.inc({ function: name, verb, resource, direction: 'sent' }, sentBytes);
  bytes.inc({ function: name, verb, resource, direction: 'received' }, receivedBytes);
}

/** `apply ConfigMap kube-system/coredns-custom`, for the line that tells what an event caused. */
function summary(step: Step): string {
  if (step.do === 'event') {
    return `event ${step.reason}`;
  }
  const { namespace, name } = 'object' in step ? (step.object.metadata ?? {}) : step;
  const kind = step.do === 'evict' ? 'Pod' : step.resource.kind;
  return `${step.do} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
}

/** Logs a failure at the level it deserves: a bug with its stack, what a retry heals without. */
export function logFailure(log: Logger, failure: Failure, fields: Readonly<Record<string, unknown>>): void {
  const { kind, message, cause } = failure;
  if (kind === 'bug') {
    log.error({ ...fields, failure: kind, err: cause ?? failure }, 'failed');
    return;
  }
  const because = cause instanceof Error ? { cause: cause.message } : {};
  log.warn({ ...fields, failure: kind, reason: message, ...because }, 'failed');
}
