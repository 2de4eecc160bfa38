import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Handler, Subject, Trigger, Wake, Watch } from './function/define.ts';
import { asFailure, Failure, handling } from './function/failure.ts';
import { answerAdmission } from './http/admission.ts';
import { sendFailure, sendNothing, sendText } from './http/answer.ts';
import type { BodyReader } from './http/body.ts';
import { decodeEvents } from './http/cloud-event.ts';
import { isCronConnector, signalOf, type Signal } from './http/events.ts';
import type { Answerer } from './http/front.ts';
import { groupVersion } from './kube/resource.ts';
import type { Metrics } from './metrics.ts';
import { createRunner, logFailure, type Report, type RunnerOptions } from './runner.ts';
import { createCoalescer } from './work/coalesce.ts';
import { createTimetable } from './work/later.ts';
import { repeat } from './work/loop.ts';

export interface InstanceOptions<C> extends Omit<RunnerOptions<C>, 'later'> {
  readonly bodies: BodyReader;
  readonly version: string;
}

/** One function at work in this process: its events, admissions, routes and loops. */
export interface Instance {
  readonly name: string;
  /** `POST /` and the function's own routes. */
  readonly answer: Answerer;
  /** Admission by path, for the TLS listener. */
  readonly admissions: ReadonlyMap<string, Answerer>;
  /** Stops the loops, finishes what runs, and does what was meant for later. */
  readonly drain: () => Promise<void>;
}

const eventLimit = 3 * 1024 * 1024;

export function createInstance<C>(options: InstanceOptions<C>): Instance {
  const { definition, config, settings, metrics, log, bodies } = options;
  const { name } = definition;
  const hearsEvents = settings.ROLE !== 'admission';
  const admits = settings.ROLE !== 'events';
  const triggers = definition.on?.(config) ?? [];
  const coalescer = createCoalescer({ running: settings.MAX_RUNNING, waiting: settings.MAX_WAITING });
  const timetable = createTimetable({
    now: options.now,
    run: (key, work) => coalescer.submit(`later ${key}`, undefined, work),
    onError: (key, error) => backgroundFailure('later', key, error),
  });
  const runner = createRunner({ ...options, later: timetable.later });
  const lanes = new Map<Handler<C>, number>();
  const stop = new AbortController();
  const loops = (definition.loops ?? [])
    .filter(({ role }) => role === 'all' || settings.ROLE === 'all' || role === settings.ROLE)
    .map((loop) =>
      repeat({
        everyMs: loop.everyMs(config),
        signal: stop.signal,
        run: () => loop.run(runner.context(AbortSignal.any([stop.signal, deadline()]))),
        onError: (error) => backgroundFailure('loop', loop.name, error),
      }),
    );

  function deadline(): AbortSignal {
    return AbortSignal.timeout(settings.TIMEOUT_SECONDS * 1000);
  }

  function backgroundFailure(work: string, key: string, error: unknown): void {
    metrics.backgroundFailures.inc({ function: name, work: `${work} ${key}` });
    logFailure(log, asFailure(error), { work: `${work} ${key}` });
  }

  /** Events of one handler share a run, or, where the watch asks for it, events of one object. */
  function wake(handler: Handler<C>, key: string, item: Item): Promise<Report> {
    const lane = lanes.get(handler) ?? lanes.size;
    lanes.set(handler, lane);
    return coalescer.submit(`${lane} ${key}`, item, (items) => runner.run(handler, gather(items)));
  }

  function react(signal: Signal): Promise<Report>[] {
    switch (signal.what) {
      case 'tick':
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

  async function receive(request: IncomingMessage): Promise<void> {
    if (!hearsEvents) {
      throw new Failure('impossible', 'this process serves admission only: send events to the events role');
    }
    const body = await bodies.read(request, eventLimit);
    if (body.length === 0 && isCronConnector(request.headers)) {
      await handled({ what: 'tick' }, { type: 'cron-connector' });
      return;
    }
    const events = decodeEvents(request.headers, body).map((event) => ({ event, signal: signalOf(event) }));
    const ends = await Promise.allSettled(
      events.map(({ event, signal }) => handled(signal, { event: event.id, type: event.type })),
    );
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [asFailure(end.reason)] : []));
    const worst = failures.find(({ kind }) => handling[kind].retry) ?? failures[0];
    if (worst !== undefined) {
      throw worst;
    }
  }

  /** One event from arrival to its end, counted and logged. */
  async function handled(signal: Signal, about: Readonly<Record<string, unknown>>): Promise<void> {
    const started = performance.now();
    const trigger = signal.what === 'other' ? 'hint' : signal.what;
    const fields = { ...about, ...(signal.what === 'change' ? place(signal.subject) : {}) };
    const runs = react(signal);
    try {
      const reports = await withinTime(Promise.all(runs), settings.TIMEOUT_SECONDS * 1000);
      const ms = Math.round(performance.now() - started);
      const steps = reports.flatMap((report) => report.steps);
      const calls = reports.reduce((sum, report) => sum + report.calls, 0);
      count(metrics, { function: name, trigger, result: runs.length === 0 ? 'ignored' : 'ok' }, started);
      log[runs.length === 0 ? 'debug' : 'info'](
        { ...fields, steps, calls, ms },
        runs.length === 0 ? 'ignored' : 'handled',
      );
    } catch (error) {
      const failure = asFailure(error);
      count(metrics, { function: name, trigger, result: failure.kind }, started);
      logFailure(log, failure, { ...fields, retry: handling[failure.kind].retry });
      throw failure;
    }
  }

  function answerEvents(request: IncomingMessage, response: ServerResponse): void {
    receive(request).then(
      () => sendNothing(response),
      (error: unknown) => {
        const failure = asFailure(error);
        if (failure.kind === 'malformed') {
          metrics.requests.inc({ function: name, trigger: 'unknown', result: 'malformed' });
          logFailure(log, failure, {});
        }
        sendFailure(response, failure);
      },
    );
  }

  const answerRoutes = lazily(async () => {
    const { createRoutes } = await import('./http/routes.ts');
    return createRoutes({
      routes: definition.routes ?? [],
      context: () => runner.context(deadline()),
      bodies,
      onFailure: (path, failure) => logFailure(log, failure, { path }),
    });
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (pathOf(request) !== '/') {
      answerRoutes(request, response);
    } else if (request.method === 'POST') {
      answerEvents(request, response);
    } else {
      answerRoot(request, response, `${name} ${options.version}: ${definition.summary}`);
    }
  }

  const idle = runner.context(stop.signal);
  const admissions = new Map(
    (admits ? (definition.admit ?? []) : []).map((admission) => [
      admission.path,
      answerAdmission({
        admission,
        bodies,
        context: () => idle,
        onVerdict: ({ uid, operation }, verdict, error) => {
          metrics.admissions.inc({ function: name, operation, allowed: String(verdict.allow) });
          if (error !== undefined) {
            logFailure(log, asFailure(error), { uid, operation, onError: admission.onError });
          }
        },
      }),
    ]),
  );

  return {
    name,
    answer,
    admissions,
    drain: async () => {
      stop.abort();
      await Promise.all(loops);
      await coalescer.idle();
      await timetable.drain();
    },
  };
}

interface Item {
  readonly tick: boolean;
  readonly subject?: Subject;
}

/** Several events of one object are one subject: the newest is what it was last seen as. */
function gather(items: readonly Item[]): Wake {
  const subjects = new Map<string, Subject>();
  for (const { subject } of items) {
    if (subject !== undefined) {
      subjects.set(identity(subject), subject);
    }
  }
  return { subjects: [...subjects.values()], tick: items.some(({ tick }) => tick) };
}

function identity({ apiVersion, kind, namespace = '', name }: Subject): string {
  return `${groupVersion(apiVersion).group}/${kind}/${namespace}/${name}`;
}

function place({ change, kind, namespace, name }: Subject): Record<string, unknown> {
  return { change, kind, namespace, name };
}

/** The watches that asked for this object. The version may differ: the same object is served in several. */
function watchesOf<C>(triggers: readonly Trigger<C>[], subject: Subject, own: string): Watch<C>[] {
  return triggers
    .filter((trigger) => 'resource' in trigger)
    .filter(({ resource, names, scope }) => {
      const sameKind = resource.kind === subject.kind && resource.group === groupVersion(subject.apiVersion).group;
      return sameKind && (names?.includes(subject.name) ?? true) && inScope(scope, subject.namespace, own);
    });
}

function inScope(scope: Watch['scope'], namespace: string | undefined, own: string): boolean {
  if (scope === 'cluster' || namespace === undefined) {
    return true;
  }
  return scope === 'own' ? namespace === own : scope.namespaces.includes(namespace);
}

function count(
  { requests, requestSeconds }: Metrics,
  labels: { function: string; trigger: string; result: string },
  started: number,
): void {
  requests.inc(labels);
  requestSeconds.observe({ function: labels.function, trigger: labels.trigger }, (performance.now() - started) / 1000);
}

function withinTime<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Failure('unavailable', 'the run did not end in time')), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** `GET /` names the function; OPTIONS is the CloudEvents webhook handshake. */
function answerRoot({ method, headers }: IncomingMessage, response: ServerResponse, text: string): void {
  if (method === 'GET' || method === 'HEAD') {
    sendText(response, 200, text);
  } else if (method === 'OPTIONS') {
    response
      .writeHead(200, {
        'webhook-allowed-origin': headers['webhook-request-origin'] ?? '*',
        'webhook-allowed-rate': '*',
      })
      .end();
  } else {
    response.setHeader('allow', 'GET, HEAD, OPTIONS, POST');
    sendText(response, 405, 'send events by POST');
  }
}

export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

/** Express is loaded by the first request that needs it, not by every start. */
function lazily(load: () => Promise<Answerer>): Answerer {
  let loaded: Promise<Answerer> | undefined;
  return (request, response) => {
    loaded ??= load();
    void loaded.then((answer) => answer(request, response));
  };
}
