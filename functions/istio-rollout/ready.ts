import type { Context, Loop } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { Config } from './config.ts';
import { effectiveConfig } from './overrides.ts';
import { openStore } from './state/store.ts';
import { Unusable } from './unusable.ts';

interface Looked {
  problem: string | undefined;
  at: number;
}

const looked = memoryKey((): Looked => ({ problem: 'has not looked at its settings and state yet', at: 0 }));

/** Why no event can be served, as of the last look. */
export function problemOf(context: Context<Config>): string | undefined {
  return context.memory(looked).problem;
}

/** What keeps it from being ready may be over at any time; what is in order mostly stays so. */
const unreadyMs = 2_000;
const readyMs = 20_000;

/** It looks by itself, since nobody sends events to what is not ready. */
export const readiness: Loop<Config> = {
  name: 'readiness',
  role: 'events',
  everyMs: () => unreadyMs,
  run: async (context) => {
    const last = context.memory(looked);
    const now = context.now().getTime();
    if (last.problem !== undefined || now >= last.at + readyMs) {
      last.at = now;
      last.problem = await look(context);
    }
  },
};

async function look(context: Context<Config>): Promise<string | undefined> {
  try {
    await effectiveConfig(context);
    await openStore(context);
    return undefined;
  } catch (error) {
    if (!(error instanceof Unusable)) {
      throw error; // the API server is away: that says nothing about settings or state
    }
    return error.message;
  }
}
