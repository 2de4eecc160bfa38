import type { Clock } from './internal.ts';

/** The time of the machine. Timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => new Date(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
