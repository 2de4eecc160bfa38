import { asFailure, type Failure } from '../../../lib/function/failure.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import { inParallel } from '../../../lib/work/in-parallel.ts';
import type { Decision } from './plan.ts';

/** A decision and what came of it. */
export interface Done extends Decision {
  /** Absent when the step was done, or there was none. */
  readonly failure?: Failure;
}

/** Enough to be done with a thousand objects in seconds, few enough not to crowd out others at the API server. */
const width = 8;

/** Does every step, whatever becomes of the others. */
export async function act(kube: Kube, decisions: readonly Decision[]): Promise<readonly Done[]> {
  const failures = new Map<Decision, Failure>();
  await inParallel(width, decisions, async (decision) => {
    if (decision.step !== undefined) {
      await kube.run({ steps: [decision.step] }).catch((error: unknown) => failures.set(decision, asFailure(error)));
    }
  });
  return decisions.map((decision) => {
    const failure = failures.get(decision);
    return failure === undefined ? decision : { ...decision, failure };
  });
}
