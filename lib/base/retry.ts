import { backoffMs } from './backoff.ts';
import type { Growth } from './doubling.ts';
import { asFailure } from './failure.ts';
import { monotonicMs } from './monotonic.ts';
import { pause } from './pause.ts';

/** How often and how long to retry after conflicts. */
export interface Budget {
  readonly tries: number;
  /** No try begins later than this after the first one. */
  readonly ms: number;
}

/** Knative's adapter gives up on an event after 3.1 s. */
export const standardBudget: Budget = { tries: 8, ms: 3_000 };

export interface RetryOptions {
  readonly budget?: Budget;
  readonly signal?: AbortSignal | undefined;
}

const growth: Growth = { firstMs: 25, longestMs: 500 };

/**
 * Runs `work` again from its start, with growing pauses, when another writer was faster (a failure of kind `conflict`).
 * The work must read anew in each try. Throws any other failure at once, and the last conflict when the budget is used
 * up. The runtime runs every handler of an event in it.
 *
 * ```ts
 * await startingOver(async () => {
 *   const current = await kube.get(configMaps, place); // read
 *   await kube.run(planFor(current)); // write with a precondition
 * });
 * ```
 */
export async function startingOver<T>(
  work: (attempt: number) => Promise<T>,
  { budget = standardBudget, signal }: RetryOptions = {},
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
      await pause(backoffMs(attempt, growth), signal);
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
