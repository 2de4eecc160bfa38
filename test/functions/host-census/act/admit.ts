import type { Verdict } from '../../../../lib/function/admission.ts';
import type { AdmissionRequest } from '../../../../lib/kube/model/review.ts';
import { refuseAnnotation } from '../names.ts';

/** Refuses an Ingress that asks to be refused. */
export function admitIngress({ object }: AdmissionRequest): Verdict {
  return object?.metadata?.annotations?.[refuseAnnotation] === 'true'
    ? { allow: false, message: `the annotation ${refuseAnnotation} asks for it` }
    : { allow: true };
}
