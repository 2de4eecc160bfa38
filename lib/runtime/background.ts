import { asFailure } from '../base/failure.ts';
import { withinTime } from '../base/time-limit.ts';
import type { Context, Later } from '../function/definition.ts';
import type { Coalescer } from '../work/coalesce.ts';
import { createTimetable } from '../work/later.ts';
import { repeat } from '../work/loop.ts';
import { logFailure, type Runner, type RunnerOptions } from './runner.ts';

/**
 * Work without a waiting request: loops, work for later, and measuring. Failures are counted and logged, never thrown.
 */
export interface Background<C> {
  readonly later: (runner: Runner<C>, ...work: Parameters<Later<C>>) => void;
  readonly startLoops: (runner: Runner<C>, stopped: AbortSignal) => void;
  readonly measure: (runner: Runner<C>) => Promise<void>;
  /** Resolves when all loops have ended. */
  readonly ended: () => Promise<unknown>;
  /** Runs the work for later now. */
  readonly drain: () => Promise<void>;
}

/** Less than the usual timeout of a scrape. */
const measureMs = 5_000;

export function createBackground<C>(
  { definition, config, settings, metrics, log, now }: Omit<RunnerOptions<C>, 'later'>,
  coalescer: Pick<Coalescer, 'submit'>,
): Background<C> {
  const { name, loops = [] } = definition;
  const limitMs = settings.TIMEOUT_SECONDS * 1000;
  const repeating: Promise<void>[] = [];
  const timetable = createTimetable({
    now,
    run: (key, work) => coalescer.submit(`later ${key}`, undefined, work),
    onError: (key, error) => report('later', key, error),
  });

  function report(work: 'later' | 'loop' | 'measure', key: string, error: unknown): void {
    metrics.backgroundFailures.inc({ function: name, work });
    logFailure(log, asFailure(error), { work, key });
  }

  /** Loops and late work have their own context and time limit; loops also end with the process. */
  function limited(
    runner: Runner<C>,
    work: (context: Context<C>) => Promise<void>,
    ...stopped: AbortSignal[]
  ): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...stopped]);
    return withinTime(work(runner.context(signal)), 2 * limitMs, 'the work ignored its abort signal');
  }

  return {
    later: (runner, key, at, work) => timetable.later(key, at, () => limited(runner, work)),
    startLoops: (runner, stopped) => {
      for (const loop of loops.filter(({ role }) => isRole(settings.ROLE, role))) {
        const repetition = repeat({
          everyMs: loop.everyMs(config),
          signal: stopped,
          run: () => limited(runner, loop.run, stopped),
          onError: (error) => report('loop', loop.name, error),
        });
        repeating.push(repetition);
      }
    },
    measure: async (runner) => {
      if (definition.measure !== undefined && settings.ROLE !== 'admission') {
        const measuring = definition.measure(runner.context(AbortSignal.timeout(measureMs)));
        await measuring.catch((error: unknown) => report('measure', name, error));
      }
    },
    ended: () => Promise.all(repeating),
    drain: timetable.drain,
  };
}

function isRole(own: string, wanted: string): boolean {
  return own === 'all' || wanted === 'all' || own === wanted;
}
