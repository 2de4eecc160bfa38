import { doublingMs, type Growth } from '../base/doubling.ts';

export interface LaterOptions {
  readonly now: () => Date;
  /** Runs the work in the lane of its key, so that two runs never overlap. */
  readonly run: (key: string, work: () => Promise<void>) => Promise<void>;
  readonly onError: (key: string, error: unknown) => void;
}

/**
 * Work for later whose intent is already durable in the cluster. It runs by timer, or when the process drains. Failed
 * work is retried with growing pauses.
 *
 * ```ts
 * const { later, drain } = createTimetable({ now, run, onError });
 * later('flush', new Date(now().getTime() + 30_000), flush);
 * await drain(); // on SIGTERM: runs `flush` now
 * ```
 */
export interface Timetable {
  /** See `Later` in lib/function/definition.ts. */
  readonly later: (key: string, at: Date, work: () => Promise<void>) => void;
  /** Runs all pending work now, each key once. Work that schedules itself again is left to the next process. */
  readonly drain: () => Promise<void>;
}

interface Entry {
  readonly at: number;
  readonly work: () => Promise<void>;
  readonly timer: NodeJS.Timeout;
  readonly failures: number;
}

/** Node fires a timer of more than 2^31 ms at once, so a far date is checked once a day. */
const longestTimerMs = 86_400_000;
const growth: Growth = { firstMs: 1_000, longestMs: 60_000 };

export function createTimetable({ now, run, onError }: LaterOptions): Timetable {
  const entries = new Map<string, Entry>();
  const underway = new Set<Promise<void>>();
  const drained = new Set<string>();
  let draining = false;

  function schedule(key: string, entry: Omit<Entry, 'timer'>): void {
    clearTimeout(entries.get(key)?.timer);
    const delay = draining ? 0 : Math.min(Math.max(entry.at - now().getTime(), 0), longestTimerMs);
    entries.set(key, { ...entry, timer: setTimeout(() => fire(key), delay) });
  }

  function fire(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) {
      return;
    }
    if (!draining && entry.at > now().getTime()) {
      schedule(key, entry);
      return;
    }
    entries.delete(key);
    if (draining) {
      drained.add(key);
    }
    const done = perform(key, entry).finally(() => underway.delete(done));
    underway.add(done);
  }

  async function perform(key: string, { work, failures }: Entry): Promise<void> {
    try {
      await run(key, work);
    } catch (error) {
      onError(key, error);
      if (!draining && !entries.has(key)) {
        const pause = doublingMs(failures + 1, growth);
        schedule(key, { at: now().getTime() + pause, work, failures: failures + 1 });
      }
    }
  }

  return {
    later: (key, at, work) => {
      if (drained.has(key)) {
        return;
      }
      const existing = entries.get(key);
      schedule(key, { at: Math.min(at.getTime(), existing?.at ?? Infinity), work, failures: 0 });
    },
    drain: async () => {
      draining = true;
      for (const [key, { timer }] of entries) {
        clearTimeout(timer);
        fire(key);
      }
      while (underway.size > 0 || entries.size > 0) {
        await Promise.all(underway);
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
  };
}
