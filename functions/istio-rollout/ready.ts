import type { Context, Loop } from '../../lib/function/define.ts';
import { perInstance } from '../../lib/function/memory.ts';
import type { Config } from './config.ts';
import { effectiveConfig } from './overrides.ts';
import { openStore } from './state/store.ts';
import { Unusable } from './unusable.ts';

const found = perInstance((): { problem: string | undefined } => ({
  problem: 'has not looked at its settings and state yet',
}));

/** Why no event can be served, as of the last look. */
export function problemOf(context: Context<Config>): string | undefined {
  return found(context).problem;
}

/** It looks by itself, since nobody sends events to what is not ready. */
export const readiness: Loop<Config> = {
  name: 'readiness',
  role: 'events',
  everyMs: () => 20_000,
  run: async (context) => {
    try {
      await effectiveConfig(context);
      await openStore(context);
      found(context).problem = undefined;
    } catch (error) {
      if (!(error instanceof Unusable)) {
        throw error; // the API server is away: that says nothing about settings or state
      }
      found(context).problem = error.message;
    }
  },
};
