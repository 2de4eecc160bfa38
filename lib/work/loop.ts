import { pause } from '../base/pause.ts';

export interface LoopOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly run: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Runs at once and then `everyMs` after each end, never twice at the same time, until the signal. Resolves when over. */
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
