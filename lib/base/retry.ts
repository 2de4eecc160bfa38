import { backoffMs } from './backoff.ts';
import type { Growth } from './doubling.ts';
import { asFailure, type Failure } from './failure.ts';
import { monotonicMs } from './monotonic.ts';
import { pause } from './pause.ts';

/** How long to go on after lost optimistic locks. */
export interface Budget {
  readonly tries: number;
  /** No try begins after so long, counted from the first. */
  readonly ms: number;
}

/** Knative's adapter gives up an event after 3.1 s. */
export const standardBudget: Budget = { tries: 8, ms: 3_000 };

export interface RetryOptions {
  readonly budget?: Budget;
  readonly signal?: AbortSignal | undefined;
  /** Called for each lost lock that leads to another try, before the pause. */
  readonly onConflict?: (failure: Failure) => void | Promise<void>;
}

const growth: Growth = { firstMs: 25, longestMs: 500 };

/**
 * Runs `work` again from its start when another writer was faster (a failure of kind `conflict`): the work reads anew
 * each time. The one conflict loop; any other failure, and the last conflict, is thrown.
 */
export async function startingOver<T>(
  work: (attempt: number) => Promise<T>,
  { budget = standardBudget, signal, onConflict }: RetryOptions = {},
): Promise<T> {
  const started = monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const failure = asFailure(error);
      const isOver = attempt >= budget.tries || monotonicMs() - started >= budget.ms;
      if (failure.kind !== 'conflict' || isOver || isAborted(signal)) {
        throw failure;
      }
      await onConflict?.(failure);
      await pause(backoffMs(attempt, growth), signal);
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
