import { asFailure } from '../base/failure.ts';
import type { Admission } from '../function/admission.ts';
import type { Context } from '../function/definition.ts';
import { answerAdmission } from '../http/admission.ts';
import type { Answerer } from '../http/front.ts';
import type { InstanceOptions } from './instance.ts';
import { admissionCounter } from './metrics.ts';
import { logFailure } from './runner.ts';

/** An answerer for each admission path, including aliases. Counts and logs verdicts. */
export function admissionPaths<C>(
  { definition, metrics, log, reviews }: InstanceOptions<C>,
  admit: readonly Admission<C>[],
  context: Context<C>,
): ReadonlyMap<string, Answerer> {
  const { name } = definition;
  const counted = admissionCounter(metrics, name);
  const paths = admit.flatMap((admission): [string, Answerer][] => {
    const answer = answerAdmission({
      admission,
      ...reviews,
      context,
      onRefused: (status) => metrics.refusedReviews.inc({ function: name, code: status }),
      onVerdict: ({ uid, operation }, verdict, { ms, error }) => {
        counted(operation, verdict.allow, ms);
        if (error !== undefined) {
          logFailure(log, asFailure(error), { uid, operation, onError: admission.onError });
        }
      },
    });
    return [admission.path, ...(admission.aliases ?? [])].map((path) => [path, answer]);
  });
  return new Map(paths);
}
