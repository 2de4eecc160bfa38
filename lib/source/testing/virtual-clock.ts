import { setImmediate } from 'node:timers/promises';
import type { Pause } from '../../base/pause.ts';

/** Time that passes only in pauses, and then at once. */
export interface VirtualClock {
  readonly now: () => Date;
  readonly elapsedMs: () => number;
  readonly pause: Pause;
  /** Every pause that was asked for. */
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
