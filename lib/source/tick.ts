import type { Cron } from '../time/cron.ts';
import { nextTime } from './cron.ts';
import type { Pause } from '../base/pause.ts';

export interface TickOptions {
  readonly cron: Cron;
  readonly now: () => Date;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly tick: () => void;
}

/** The clock may be set, or the machine may sleep, so the clock is checked at least this often. */
const longestLookMs = 60_000;

/** Ticks at once, so that a fresh start converges, then by the schedule until the signal aborts. */
export async function keepTicking({ cron, now, pause, signal, tick }: TickOptions): Promise<void> {
  let due = now();
  while (!signal.aborted) {
    const leftMs = due.getTime() - now().getTime();
    if (leftMs > 0) {
      await pause(Math.min(leftMs, longestLookMs), signal);
    } else {
      tick();
      due = nextTime(cron, now());
    }
  }
}
