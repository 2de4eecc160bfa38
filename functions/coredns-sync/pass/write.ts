import type { Context } from '../../../lib/function/definition.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import type { Step } from '../../../lib/kube/model/plan.ts';
import type { Config } from '../config.ts';
import { countWrite, type Written } from '../metrics.ts';

/** Does the steps in order, up to the first that fails, and counts how each ended. */
export async function writeCounted(context: Context<Config>, what: Written, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    try {
      await context.kube.run({ steps: [step] });
    } catch (error) {
      countWrite(context, what, asFailure(error).kind);
      throw error;
    }
    countWrite(context, what, 'ok');
  }
}
