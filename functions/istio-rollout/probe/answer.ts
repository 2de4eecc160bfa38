import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Pod } from '../../../lib/kube/model/resource.ts';
import type { AdmissionReview } from '../../../lib/kube/model/review.ts';

/** What an injector would make of a pod. */
export type Answer =
  | { readonly pod: Pod }
  /** It refuses the pod: the template is wrong, not the injector. */
  | { readonly denied: string }
  /** Nothing is known: to be asked again. */
  | { readonly failed: string };

/** Applies the patch strictly, as the API server does. */
export function answerOf(pod: Pod, uid: string, { response }: AdmissionReview): Answer {
  if (response?.uid !== uid) {
    return { failed: 'the injector answered another question' };
  }
  if (!response.allowed) {
    return { denied: response.status?.message ?? 'the injector refuses it without saying why' };
  }
  if (response.patch === undefined || response.patch === '') {
    return { pod };
  }
  if (response.patchType !== 'JSONPatch') {
    return { failed: `the injector sent a patch of type ${JSON.stringify(response.patchType ?? '').slice(0, 40)}` };
  }
  return patched(pod, response.patch);
}

function patched(pod: Pod, patch: string): Answer {
  try {
    const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[] | null;
    return { pod: jsonPatch.applyPatch(pod, operations ?? [], true, false).newDocument };
  } catch (error) {
    const [message] = (error as { message: string }).message.split('\n');
    return { failed: `the patch of the injector cannot be applied: ${message}` };
  }
}
