import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdmissionRequest } from '../../kube/model/review.ts';

/** What a webhook does with a review. */
export type Reply = (request: AdmissionRequest, message: IncomingMessage, response: ServerResponse) => void;

export function allow(request: AdmissionRequest, message: IncomingMessage, response: ServerResponse): void {
  answerWith({ allowed: true })(request, message, response);
}

export function answerWith(fields: object): Reply {
  return ({ uid }, _message, response) => {
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...fields } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(review));
  };
}

export function patch(operations: readonly object[]): Reply {
  const encoded = Buffer.from(JSON.stringify(operations)).toString('base64');
  return answerWith({ allowed: true, patchType: 'JSONPatch', patch: encoded });
}
