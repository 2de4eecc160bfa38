import type { Logger } from 'pino';
import { asFailure, type Failure } from '../base/failure.ts';
import { startingOver } from '../base/retry.ts';
import { withinTime } from '../base/time-limit.ts';
import { conditionsOf, type Conditions } from '../function/conditions.ts';
import type { Context, Definition, Later } from '../function/definition.ts';
import { createMemory } from '../function/memory.ts';
import type { FunctionSettings } from '../function/settings.ts';
import type { Handler, Wake } from '../function/triggers.ts';
import { createKube, type Call, type KubeOptions } from '../kube/client.ts';
import type { Step } from '../kube/model/plan.ts';
import { createServerClock } from '../kube/server-clock.ts';
import { LaterSchema } from '../kube/state/document.ts';
import type { Transport } from '../kube/transport.ts';
import { createConditions } from './conditions.ts';
import { functionMetrics, type Metrics } from './metrics.ts';
import { createRightsWatch } from './missing-rights.ts';

export interface RunnerOptions<C> {
  readonly definition: Definition<C>;
  readonly config: C;
  readonly settings: FunctionSettings;
  readonly transport: Transport;
  readonly namespace: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => Date;
  /** The clock of the machine, if `now` is another one. */
  readonly machineNow?: (() => Date) | undefined;
  readonly later: Later<C>;
  /** Called for each API call, for tests of what an event costs. */
  readonly observe?: ((call: Call) => void) | undefined;
}

/** Runs the handlers of one function against the cluster. */
export interface Runner<C> {
  /**
   * Runs the handler to its end. After a conflict it starts over from its reads. A handler that ignores its abort
   * signal is abandoned so that its lane is not blocked; write preconditions make late writes safe.
   */
  readonly run: (handler: Handler<C>, wake: Wake) => Promise<Report>;
  /** A context for one request or loop that lasts until the signal aborts. */
  readonly context: (signal: AbortSignal, options?: ContextOptions) => Context<C>;
  readonly conditions: Conditions;
}

export interface ContextOptions {
  /** Where steps and calls are counted. */
  readonly report?: Report;
  /** False for calls that only find out which rights there are: their refusal is no condition. Default true. */
  readonly notesRights?: boolean;
}

/** What a run did and cost. */
export interface Report {
  readonly steps: string[];
  calls: number;
}

export function createRunner<C>(options: RunnerOptions<C>): Runner<C> {
  const { definition, config, settings, namespace, metrics, log, now, later } = options;
  const conditions = createConditions({
    function: definition.name,
    table: conditionsOf(definition),
    metrics,
    log,
  });
  const labels = { function: definition.name };
  const limitMs = settings.TIMEOUT_SECONDS * 1000;
  const skew = createServerClock();
  const laterSchemas = new Map<Handler<C>, string>();
  const common = {
    config,
    conditions,
    log,
    metrics: functionMetrics(metrics.registry, definition.name),
    memory: createMemory(),
    namespace,
    now: definition.clock === 'server' ? () => new Date(now().getTime() + skew.skewMs()) : now,
    later,
  };
  const noteRight = createRightsWatch(conditions, now);

  function context(
    signal: AbortSignal,
    { report = { steps: [], calls: 0 }, notesRights = true }: ContextOptions = {},
  ): Context<C> {
    const observed = observing(options, report, notesRights ? noteRight : () => undefined);
    return { ...common, signal, kube: createKube({ ...observed, signal, skew }) };
  }

  async function attempt(handler: Handler<C>, wake: Wake, signal: AbortSignal): Promise<Report> {
    const report: Report = { steps: [], calls: 0 };
    await startingOver(
      () => withinTime(handler(context(signal, { report }), wake), 2 * limitMs, 'the handler ignored its abort signal'),
      { signal },
    );
    return report;
  }

  /** Another handler that does not read the state says nothing about it. */
  function noteSchema(handler: Handler<C>, failure: LaterSchema | undefined): void {
    if (failure === undefined ? laterSchemas.delete(handler) : laterSchemas.set(handler, failure.message)) {
      conditions.set('StateOfLaterRelease', [...new Set(laterSchemas.values())]);
    }
  }

  async function run(handler: Handler<C>, wake: Wake): Promise<Report> {
    try {
      const report = await attempt(handler, wake, AbortSignal.timeout(limitMs));
      metrics.runs.inc({ ...labels, result: 'ok' });
      metrics.lastSuccess.set(labels, now().getTime() / 1000);
      noteSchema(handler, undefined);
      if (wake.tick && wake.subjects.length === 0 && report.steps.length > 0) {
        metrics.drift.inc(labels);
      }
      return report;
    } catch (error) {
      const failure = asFailure(error);
      metrics.runs.inc({ ...labels, result: failure.kind });
      if (failure instanceof LaterSchema) {
        noteSchema(handler, failure);
      }
      throw failure;
    }
  }

  return { run, context, conditions };
}

/** A client whose calls and steps are counted, for the function and for the run. */
function observing<C>(
  { definition, settings, transport, metrics, log, now, machineNow, observe }: RunnerOptions<C>,
  report: Report,
  noteRight: (call: Call) => void,
): KubeOptions {
  const labels = { function: definition.name };
  return {
    transport,
    log,
    now,
    ...(machineNow && { machineNow }),
    fieldManager: `kube-reflex.dev/${definition.name}`,
    ...(settings.DRY_RUN && definition.ownDryRun !== true ? { dryRun: 'plan' } : {}),
    observe: (call) => {
      report.calls += 1;
      countCall(metrics, definition.name, call);
      noteRight(call);
      observe?.(call);
    },
    onStep: (step, result) => {
      metrics.steps.inc({ ...labels, do: step.do, result });
      if (result === 'ok' || result === 'dry-run') {
        report.steps.push(result === 'ok' ? summary(step) : `would ${summary(step)}`);
      }
    },
    onSkipped: () => metrics.skipped.inc(labels),
  };
}

function countCall(
  { calls, bytes }: Metrics,
  name: string,
  { verb, resource, code, sentBytes, receivedBytes }: Call,
): void {
  calls.inc({ function: name, verb, resource, code });
  bytes.inc({ function: name, verb, resource, direction: 'sent' }, sentBytes);
  bytes.inc({ function: name, verb, resource, direction: 'received' }, receivedBytes);
}

/** A step for the log: `apply ConfigMap kube-system/coredns-custom`. */
function summary(step: Step): string {
  if (step.do === 'event') {
    return `event ${step.reason}`;
  }
  const { namespace, name } = 'object' in step ? (step.object.metadata ?? {}) : step;
  const kind = step.do === 'evict' ? 'Pod' : step.resource.kind;
  return `${step.do} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
}

/** Logs a failure: a bug as an error with its stack, anything else as a warning. */
export function logFailure(log: Logger, failure: Failure, fields: Readonly<Record<string, unknown>>): void {
  const { kind, message, cause } = failure;
  if (kind === 'bug') {
    log.error({ ...fields, failure: kind, err: cause ?? failure }, 'failed');
    return;
  }
  const because = cause instanceof Error ? { cause: cause.message } : {};
  log.warn({ ...fields, failure: kind, reason: message, ...because }, 'failed');
}
