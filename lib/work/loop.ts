import { pause } from '../base/pause.ts';

export interface LoopOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly run: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs at once, and again `everyMs` after each end, until the signal aborts. Runs never overlap. Resolves when the last
 * run has ended.
 */
export async function repeat({ everyMs, signal, run, onError }: LoopOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await run();
    } catch (error) {
      onError(error);
    }
    await pause(everyMs, signal);
  }
}
