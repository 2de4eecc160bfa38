import { asFailure, Failure, type FailureKind } from '../base/failure.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { Kube } from './client.ts';
import type { Step } from './model/plan.ts';

/** How many steps are under way at once. */
const width = 8;

/** What matters most comes first: after a conflict a run starts over at once, and then meets the others again. */
const ranks: readonly FailureKind[] = ['conflict', 'throttled', 'unavailable', 'bug', 'impossible', 'malformed'];

/** Runs steps that do not depend on each other. One that fails stops none of the others. Returns the failures. */
export async function failuresOf(kube: Pick<Kube, 'run'>, steps: readonly Step[]): Promise<readonly Failure[]> {
  const outcomes = await inParallel(width, steps, (step) =>
    kube.run({ steps: [step] }).then(
      () => [],
      (error: unknown) => [asFailure(error)],
    ),
  );
  return outcomes.flat();
}

/** The same, for a handler: once all steps have ended it throws the failure that matters most, and counts the others. */
export async function runEach(kube: Pick<Kube, 'run'>, steps: readonly Step[]): Promise<void> {
  const failures = await failuresOf(kube, steps);
  const [worst] = [...failures].sort((a, b) => ranks.indexOf(a.kind) - ranks.indexOf(b.kind));
  if (worst === undefined) {
    return;
  }
  const others = failures.length === 1 ? '' : ` (and ${failures.length - 1} more of ${steps.length} steps)`;
  const { retryAfter } = worst;
  throw new Failure(worst.kind, worst.message + others, {
    cause: worst,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}
