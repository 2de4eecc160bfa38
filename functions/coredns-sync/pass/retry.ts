import type { Context } from '../../../lib/function/definition.ts';
import { asFailure, Failure } from '../../../lib/base/failure.ts';
import { pause } from '../../../lib/base/pause.ts';
import type { Config } from '../config.ts';
import { passMemory } from '../state/memory.ts';
import { countConflict } from '../metrics.ts';

const shortestPauseMs = 50;
const longestPauseMs = 2_000;

/** Begins `work` again from its reads while others write at the same time; gives up before the sender of the event does. */
export async function startingOver<T>(context: Context<Config>, work: () => Promise<T>): Promise<T> {
  const { config, now, signal } = context;
  const deadline = now().getTime() + config.CONFLICT_BUDGET_MS;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const failure = asFailure(error);
      if (failure.kind !== 'conflict') {
        throw error;
      }
      countConflict(context);
      context.memory(passMemory).known = undefined; // what was known of the layout may be why
      if (attempt + 1 >= config.CONFLICT_RETRIES || now().getTime() >= deadline || signal.aborted) {
        throw new Failure('unavailable', `others keep writing: ${failure.message}`, { cause: error, retryAfter: 2 });
      }
      await pause(Math.random() * Math.min(shortestPauseMs * 2 ** attempt, longestPauseMs), signal);
    }
  }
}
