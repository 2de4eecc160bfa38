import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../function/definition.ts';
import type { Handler } from '../function/triggers.ts';
import { asFailure, Failure, handling } from '../base/failure.ts';
import { gather, identity, watchesOf, type Reason } from '../function/wake.ts';
import { answerAdmission } from '../http/admission.ts';
import { sendFailure } from '../http/answer.ts';
import type { BodyReader } from '../http/body.ts';
import type { Signal } from '../http/events.ts';
import { pathOf, type Answerer } from '../http/front.ts';
import { answerEvents, answerRoot, type About } from '../http/receive.ts';
import { monotonicMs } from '../base/monotonic.ts';
import { admissionCounter } from './metrics.ts';
import { createRunner, logFailure, type Report, type Runner, type RunnerOptions } from './runner.ts';
import type { FunctionSettings } from '../function/settings.ts';
import type { UnknownSetting } from '../function/unknown-settings.ts';
import { withinTime } from '../base/time-limit.ts';
import { certificateOf, type Certificate } from '../tls/serving.ts';
import type { TlsConfig } from '../tls/settings.ts';
import { createCoalescer } from '../work/coalesce.ts';
import { createTimetable } from '../work/later.ts';
import { repeat } from '../work/loop.ts';

export interface InstanceOptions<C> extends Omit<RunnerOptions<C>, 'later'> {
  readonly bodies: BodyReader;
  /** Reviews are read apart from events, so that a flood of those holds up no admission. */
  readonly reviews: { readonly bodies: BodyReader; readonly maxBytes: number };
  readonly version: string;
  /** Variables that are set for it and that nothing reads. */
  readonly unknown?: readonly UnknownSetting[];
}

/** One function at work in this process: its events, admissions, routes and loops. */
export interface Instance {
  readonly name: string;
  /** `POST /` and the function's own routes. */
  readonly answer: Answerer;
  /** Admission by path, for the TLS listener. */
  readonly admissions: ReadonlyMap<string, Answerer>;
  readonly role: FunctionSettings['ROLE'];
  /** Of an instance that admits. */
  readonly certificate: Certificate | undefined;
  /** Why nothing should be sent to it yet, if so. */
  readonly problem: () => string | undefined;
  /** Brings the gauges up to date that tell of the cluster; a failure is counted, never thrown. */
  readonly measure: () => Promise<void>;
  /** Begins the loops. */
  readonly start: () => void;
  /** Stops the loops, finishes what runs, and does what was meant for later. */
  readonly drain: () => Promise<void>;
}

/** Less than the patience of who reads metrics. */
const measureMs = 5_000;

export function createInstance<C>(options: InstanceOptions<C>): Instance {
  const { definition, config, settings, metrics, log, bodies, reviews } = options;
  const { name, routes = [], loops = [] } = definition;
  const triggers = definition.on?.(config, options) ?? [];
  const limitMs = settings.TIMEOUT_SECONDS * 1000;
  const coalescer = createCoalescer({ running: settings.MAX_RUNNING, waiting: settings.MAX_WAITING });
  const timetable = createTimetable({
    now: options.now,
    run: (key, work) => coalescer.submit(`later ${key}`, undefined, work),
    onError: (key, error) => backgroundFailure('later', key, error),
  });
  const runner: Runner<C> = createRunner({
    ...options,
    later: (key, at, work) => timetable.later(key, at, () => inBackground(work)),
  });
  beginSeries(options);
  reportUnknownSettings(options);
  const lanes = new Map<Handler<C>, number>();
  const stop = new AbortController();

  /** Loops and late work have a context and a time limit of their own; loops also end with the process. */
  function inBackground(work: (context: Context<C>) => Promise<void>, stopped?: AbortSignal): Promise<void> {
    const signals = [AbortSignal.timeout(limitMs), ...(stopped === undefined ? [] : [stopped])];
    return withinTime(work(runner.context(AbortSignal.any(signals))), 2 * limitMs, 'the work ignored its time limit');
  }

  function backgroundFailure(work: 'later' | 'loop' | 'measure', key: string, error: unknown): void {
    metrics.backgroundFailures.inc({ function: name, work });
    logFailure(log, asFailure(error), { work, key });
  }

  /** Events of one handler share a run, or, where the watch asks for it, events of one object. */
  function wake(handler: Handler<C>, key: string, reason: Reason): Promise<Report> {
    const lane = lanes.get(handler) ?? lanes.size;
    lanes.set(handler, lane);
    return coalescer.submit(`${lane} ${key}`, reason, (reasons) => runner.run(handler, gather(reasons)));
  }

  function react(signal: Signal): Promise<Report>[] {
    switch (signal.what) {
      case 'tick':
        metrics.lastTick.set({ function: name }, options.now().getTime() / 1000);
        return definition.tick === undefined ? [] : [wake(definition.tick.handle, '', { tick: true })];
      case 'change': {
        const { subject } = signal;
        return watchesOf(triggers, subject, options.namespace).map(({ key, handle }) =>
          wake(handle, key === 'object' ? identity(subject) : '', { tick: false, subject }),
        );
      }
      case 'other':
        return triggers
          .filter((trigger) => 'type' in trigger && trigger.type === signal.type)
          .map(({ handle }) => wake(handle, '', { tick: false }));
    }
  }

  /** One event from arrival to its end, counted and logged. */
  async function handle(signal: Signal, about: About): Promise<void> {
    const started = monotonicMs();
    const labels = { function: name, trigger: signal.what === 'other' ? 'hint' : signal.what };
    const fields = { ...about, ...placeOf(signal) };
    function count(result: string): void {
      metrics.requests.inc({ ...labels, result });
      metrics.requestSeconds.observe(labels, (monotonicMs() - started) / 1000);
    }
    try {
      if (settings.ROLE === 'admission') {
        throw new Failure('impossible', 'this process serves admission only: send events to the events role');
      }
      const runs = react(signal);
      const reports = await withinTime(Promise.all(runs), limitMs, 'the run did not end in time');
      const ignored = runs.length === 0;
      count(ignored ? 'ignored' : 'ok');
      const steps = reports.flatMap((report) => report.steps);
      const calls = reports.reduce((sum, report) => sum + report.calls, 0);
      const ms = Math.round(monotonicMs() - started);
      log[ignored ? 'debug' : 'info']({ ...fields, steps, calls, ms }, ignored ? 'ignored' : 'handled');
    } catch (error) {
      const failure = asFailure(error);
      count(failure.kind);
      logFailure(log, failure, { ...fields, retry: handling[failure.kind].retry });
      throw failure;
    }
  }

  const receive = answerEvents({
    bodies,
    handle,
    onMalformed: (failure) => {
      metrics.requests.inc({ function: name, trigger: 'unknown', result: failure.kind });
      logFailure(log, failure, {});
    },
  });

  const route = lazily(async () => {
    const [{ createRoutes }, { doctorRoute }] = await Promise.all([
      import('../http/routes.ts'),
      import('./doctor/route.ts'),
    ]);
    const self = { definition, role: settings.ROLE, registry: metrics.registry };
    return createRoutes({
      routes: [...routes, doctorRoute(self)],
      bodies,
      context: () => runner.context(AbortSignal.timeout(limitMs)),
      onFailure: (path, failure) => logFailure(log, failure, { path }),
    });
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (pathOf(request) !== '/') {
      route(request, response);
    } else if (request.method === 'POST') {
      receive(request, response);
    } else {
      answerRoot(request, response, `${name} ${options.version}: ${definition.summary}`);
    }
  }

  // One context serves all reviews: an admission decides from what it has, and bounds by itself what it must ask.
  const admissionContext = runner.context(stop.signal);
  const admit = settings.ROLE === 'events' ? [] : (definition.admit?.(config, options) ?? []);
  const admits = definition.admit !== undefined;
  const counted = admissionCounter(metrics, name);
  const admissions = admit.flatMap((admission): [string, Answerer][] => {
    const answer = answerAdmission({
      admission,
      ...reviews,
      context: admissionContext,
      onRefused: (status) => metrics.refusedReviews.inc({ function: name, code: status }),
      onVerdict: ({ uid, operation }, verdict, { ms, error }) => {
        counted(operation, verdict.allow, ms);
        if (error !== undefined) {
          logFailure(log, asFailure(error), { uid, operation, onError: admission.onError });
        }
      },
    });
    return [admission.path, ...(admission.aliases ?? [])].map((path) => [path, answer]);
  });

  const repeating: Promise<void>[] = [];
  function start(): void {
    const mine = loops.filter(({ role }) => role === 'all' || settings.ROLE === 'all' || role === settings.ROLE);
    for (const loop of mine) {
      repeating.push(
        repeat({
          everyMs: loop.everyMs(config),
          signal: stop.signal,
          run: () => inBackground(loop.run, stop.signal),
          onError: (error) => backgroundFailure('loop', loop.name, error),
        }),
      );
    }
  }

  async function measure(): Promise<void> {
    if (definition.measure !== undefined && settings.ROLE !== 'admission') {
      const measuring = definition.measure(runner.context(AbortSignal.timeout(measureMs)));
      await measuring.catch((error: unknown) => backgroundFailure('measure', name, error));
    }
  }

  return {
    name,
    measure,
    answer,
    admissions: new Map(admissions),
    role: settings.ROLE,
    certificate: admit.length === 0 ? undefined : certificateOf(admissionContext as Context<TlsConfig>),
    problem: () => (admits && admit.length === 0 ? undefined : definition.ready?.(admissionContext)),
    start,
    drain: async () => {
      stop.abort();
      await Promise.all(repeating);
      await coalescer.idle();
      await timetable.drain();
    },
  };
}

/** What must be there before anything has happened, or nobody could tell that it does not. */
function beginSeries<C>({ definition, settings, metrics, now }: InstanceOptions<C>): void {
  const { name } = definition;
  for (const trigger of ['tick', 'change', 'hint']) {
    metrics.requests.inc({ function: name, trigger, result: 'bug' }, 0); // or Prometheus sees no increase in the first
  }
  if (definition.tick !== undefined && settings.ROLE !== 'admission') {
    metrics.start.set({ function: name }, now().getTime() / 1000);
  }
}

function reportUnknownSettings<C>({ definition, metrics, log, unknown = [] }: InstanceOptions<C>): void {
  metrics.unknownSettings.set({ function: definition.name }, unknown.length);
  for (const { variable, instead } of unknown) {
    log.warn({ variable, instead }, 'a variable is set that is no setting');
  }
}

function placeOf(signal: Signal): Record<string, unknown> {
  if (signal.what !== 'change') {
    return {};
  }
  const { change, kind, namespace, name } = signal.subject;
  return { change, kind, namespace, name };
}

/** Express is loaded by the first request that needs it, not by every start. */
function lazily(load: () => Promise<Answerer>): Answerer {
  let loaded: Promise<Answerer> | undefined;
  return (request, response) => {
    loaded ??= load();
    loaded.then(
      (answer) => answer(request, response),
      (error: unknown) => {
        loaded = undefined;
        sendFailure(response, new Failure('unavailable', 'load the routes', { cause: error }));
      },
    );
  };
}
