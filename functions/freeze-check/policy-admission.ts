import type { Context } from '../../lib/function/definition.ts';
import type { Verdict } from '../../lib/function/admission.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import type { PolicyKind } from './policy.ts';
import { validate } from './validate.ts';

/** Answers a review about a policy. Deleting one is never refused, nor the removal of its finalizers then. */
export function admitPolicy(kind: PolicyKind): (request: AdmissionRequest, context: Context<Config>) => Verdict {
  return ({ operation, object }, { config, now }) => {
    if (operation === 'DELETE' || object?.metadata?.deletionTimestamp !== undefined) {
      return { allow: true };
    }
    const circumstances = {
      now: now().getTime(),
      longestExceptionMs: config.MAX_EXCEPTION_DURATION,
      providers: config.GITOPS_PROVIDERS,
    };
    const { problems, warnings } = validate(kind, object ?? {}, circumstances);
    return problems.length === 0
      ? { allow: true, warnings }
      : {
          allow: false,
          message: problems.join('; '),
          causes: problems.map((message) => ({ reason: 'FieldValueInvalid', field: fieldOf(message), message })),
        };
  };
}

/** Every message begins with the field that is to blame. */
function fieldOf(message: string): string {
  return /^[\w.[\]]+/.exec(message)?.[0] ?? 'spec';
}
