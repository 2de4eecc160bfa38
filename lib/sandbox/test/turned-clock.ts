import type { Clock } from '../model/internal.ts';

/** A clock that stands still until a test turns it. */
export interface TurnedClock extends Clock {
  /** Moves time on and runs what is due, in order. */
  turn(ms: number): void;
}

export function turnedClock(start = new Date('2026-01-01T00:00:00Z')): TurnedClock {
  let now = start.getTime();
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  return {
    now: () => new Date(now),
    after(ms, work) {
      const timer = { at: now + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    turn(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)) {
        timers.delete(timer);
        timer.work();
      }
    },
  };
}

const mostTurns = 20_000;

/** Waits for something that follows without the clock. Gives the event loop a turn between looks. */
export async function eventually<T>(look: () => T | undefined | false, what: string): Promise<T> {
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const seen = look();
    if (seen !== undefined && seen !== false) {
      return seen;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`it never came to pass that ${what}`);
}

/** Lets everything happen that follows by itself. */
export async function settle(turns = 200): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
