import { asFailure, Failure, handling } from '../base/failure.ts';
import { monotonicMs } from '../base/monotonic.ts';
import { withinTime } from '../base/time-limit.ts';
import type { Handler } from '../function/triggers.ts';
import { gather, identity, watchesOf, type Reason } from '../function/wake.ts';
import type { Signal } from '../http/events.ts';
import type { About } from '../http/receive.ts';
import type { Coalescer } from '../work/coalesce.ts';
import { logFailure, type Report, type Runner, type RunnerOptions } from './runner.ts';

type Options<C> = Omit<RunnerOptions<C>, 'later'>;

/** Runs handlers, and lets waiting events share a run. */
interface Work<C> {
  readonly runner: Runner<C>;
  readonly coalescer: Coalescer;
}

/** Handles one event: finds the handlers, waits for their runs, counts and logs. */
export function createEventPath<C>(
  options: Options<C>,
  work: Work<C>,
): (signal: Signal, about: About) => Promise<void> {
  const { definition, settings, metrics, log } = options;
  const { name } = definition;
  const limitMs = settings.TIMEOUT_SECONDS * 1000;
  const react = reactions(options, work);

  return async (signal, about) => {
    const started = monotonicMs();
    const labels = { function: name, trigger: signal.what === 'other' ? 'hint' : signal.what };
    const fields = { ...about, ...placeOf(signal) };
    function count(result: string): void {
      metrics.requests.inc({ ...labels, result });
      metrics.requestSeconds.observe(labels, (monotonicMs() - started) / 1000);
    }
    try {
      if (settings.ROLE === 'admission') {
        throw new Failure('impossible', 'this process serves admission only; send events to the events role');
      }
      const runs = react(signal);
      const reports = await withinTime(Promise.all(runs), limitMs, 'the run did not end in time');
      const ignored = runs.length === 0;
      count(ignored ? 'ignored' : 'ok');
      const ms = Math.round(monotonicMs() - started);
      log[ignored ? 'debug' : 'info']({ ...fields, ...sum(reports), ms }, ignored ? 'ignored' : 'handled');
    } catch (error) {
      const failure = asFailure(error);
      count(failure.kind);
      logFailure(log, failure, { ...fields, retry: handling[failure.kind].retry });
      throw failure;
    }
  };
}

/** The runs that an event causes. */
function reactions<C>(
  { definition, config, metrics, now, ...site }: Options<C>,
  { runner, coalescer }: Work<C>,
): (signal: Signal) => Promise<Report>[] {
  const triggers = definition.on?.(config, site) ?? [];
  const lanes = new Map<Handler<C>, number>();

  /** Events of one handler share a run or, with `key: 'object'`, the events of one object. */
  function wake(handler: Handler<C>, key: string, reason: Reason): Promise<Report> {
    const lane = lanes.get(handler) ?? lanes.size;
    lanes.set(handler, lane);
    return coalescer.submit(`${lane} ${key}`, reason, (reasons) => runner.run(handler, gather(reasons)));
  }

  return (signal) => {
    switch (signal.what) {
      case 'tick':
        metrics.lastTick.set({ function: definition.name }, now().getTime() / 1000);
        return definition.tick === undefined ? [] : [wake(definition.tick.handle, '', { tick: true })];
      case 'change': {
        const { subject } = signal;
        return watchesOf(triggers, subject, site.namespace).map(({ key, handle }) =>
          wake(handle, key === 'object' ? identity(subject) : '', { tick: false, subject }),
        );
      }
      case 'other':
        return triggers
          .filter((trigger) => 'type' in trigger && trigger.type === signal.type)
          .map(({ handle }) => wake(handle, '', { tick: false }));
    }
  };
}

function sum(reports: readonly Report[]): Report {
  return {
    steps: reports.flatMap(({ steps }) => steps),
    calls: reports.reduce((total, { calls }) => total + calls, 0),
  };
}

function placeOf(signal: Signal): Record<string, unknown> {
  if (signal.what !== 'change') {
    return {};
  }
  const { change, kind, namespace, name } = signal.subject;
  return { change, kind, namespace, name };
}
