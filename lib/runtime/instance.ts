import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../function/definition.ts';
import type { FunctionSettings } from '../function/settings.ts';
import type { UnknownSetting } from '../function/unknown-settings.ts';
import type { BodyReader } from '../http/body.ts';
import { pathOf, type Answerer } from '../http/front.ts';
import { answerEvents, answerRoot } from '../http/receive.ts';
import { certificateOf, type Certificate } from '../tls/serving.ts';
import type { TlsConfig } from '../tls/settings.ts';
import { createCoalescer } from '../work/coalesce.ts';
import { admissionPaths } from './admissions.ts';
import { createBackground } from './background.ts';
import { createEventPath } from './events.ts';
import { functionRoutes } from './routes.ts';
import { createRunner, logFailure, type Runner, type RunnerOptions } from './runner.ts';

export interface InstanceOptions<C> extends Omit<RunnerOptions<C>, 'later'> {
  readonly bodies: BodyReader;
  /** Reviews have their own budget, so that a flood of events does not delay admission. */
  readonly reviews: { readonly bodies: BodyReader; readonly maxBytes: number };
  readonly version: string;
  /** Variables that are set for it and that nothing reads. */
  readonly unknown?: readonly UnknownSetting[];
}

/** One function in this process: its events, admissions, routes and loops. */
export interface Instance {
  readonly name: string;
  /** `POST /` and the function's own routes. */
  readonly answer: Answerer;
  /** Admission by path, for the TLS listener. */
  readonly admissions: ReadonlyMap<string, Answerer>;
  readonly role: FunctionSettings['ROLE'];
  /** Only if the function admits. */
  readonly certificate: Certificate | undefined;
  /** Why it is not ready; `undefined` if it is. */
  readonly problem: () => string | undefined;
  /** Updates the gauges about the cluster. Failures are counted, never thrown. */
  readonly measure: () => Promise<void>;
  /** Starts the loops. */
  readonly start: () => void;
  /** Stops the loops, finishes active runs, and runs the work for later. */
  readonly drain: () => Promise<void>;
}

export function createInstance<C>(options: InstanceOptions<C>): Instance {
  const { definition, config, settings, unknown = [] } = options;
  const coalescer = createCoalescer({ running: settings.MAX_RUNNING, waiting: settings.MAX_WAITING });
  const background = createBackground(options, coalescer);
  const runner = createRunner({ ...options, later: (...given) => background.later(runner, ...given) });
  const stop = new AbortController();
  // One context serves all reviews, so its signal has no deadline: an admission limits its own calls.
  const admissionContext = runner.context(stop.signal);
  const admit = settings.ROLE === 'events' ? [] : (definition.admit?.(config, options) ?? []);
  const isIdle = definition.admit !== undefined && admit.length === 0;
  beginSeries(options);
  runner.conditions.set(
    'SettingUnknown',
    unknown.map(({ variable, instead }) => `${variable}: ${instead}`),
  );
  return {
    name: definition.name,
    role: settings.ROLE,
    answer: answerer(options, runner, createEventPath(options, { runner, coalescer })),
    admissions: admissionPaths(options, admit, admissionContext),
    certificate: admit.length === 0 ? undefined : certificateOf(admissionContext as Context<TlsConfig>),
    problem: () => (isIdle ? undefined : definition.ready?.(admissionContext)),
    measure: () => background.measure(runner),
    start: () => background.startLoops(runner, stop.signal),
    drain: async () => {
      stop.abort();
      await background.ended();
      await coalescer.idle();
      await background.drain();
    },
  };
}

/** Answers the requests to this function on the plain port. */
function answerer<C>(
  options: InstanceOptions<C>,
  runner: Runner<C>,
  handle: ReturnType<typeof createEventPath>,
): Answerer {
  const { definition, metrics, log, bodies, version } = options;
  const { name, summary } = definition;
  const route = functionRoutes(options, runner);
  const receive = answerEvents({
    bodies,
    handle,
    onMalformed: (failure) => {
      metrics.requests.inc({ function: name, trigger: 'unknown', result: failure.kind });
      logFailure(log, failure, {});
    },
  });
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (pathOf(request) !== '/') {
      route(request, response);
    } else if (request.method === 'POST') {
      receive(request, response);
    } else {
      answerRoot(request, response, `${name} ${version}: ${summary}`);
    }
  };
}

/** Creates series before the first event, because an alert cannot see the first increase of a new series. */
function beginSeries<C>({ definition, settings, metrics, now }: InstanceOptions<C>): void {
  const { name } = definition;
  for (const trigger of ['tick', 'change', 'hint']) {
    metrics.requests.inc({ function: name, trigger, result: 'bug' }, 0);
  }
  if (definition.tick !== undefined && settings.ROLE !== 'admission') {
    metrics.start.set({ function: name }, now().getTime() / 1000);
  }
}
