import { setImmediate } from 'node:timers/promises';
import type { Pause } from '../../base/pause.ts';

/** A clock that advances only in pauses, which end at once. */
export interface VirtualClock {
  readonly now: () => Date;
  readonly elapsedMs: () => number;
  readonly pause: Pause;
  /** All pauses so far. */
  readonly pauses: readonly number[];
}

export function createVirtualClock(): VirtualClock {
  const start = Date.UTC(2026, 2, 1, 10);
  const pauses: number[] = [];
  let elapsed = 0;
  return {
    now: () => new Date(start + elapsed),
    elapsedMs: () => elapsed,
    pauses,
    pause: async (ms) => {
      pauses.push(ms);
      elapsed += ms;
      await setImmediate();
    },
  };
}
