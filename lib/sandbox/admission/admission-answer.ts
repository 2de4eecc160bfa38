import type { Status } from '../../kube/model/wire.ts';
import type { AdmissionResponse, AdmissionReview } from '../../kube/model/review.ts';
import { ApiError } from '../model/status.ts';

/** A webhook said no. Its own status shines through, so the reason may be missing. */
export class Denial extends ApiError {
  readonly #result: Partial<Status>;

  constructor(webhook: string, result: Partial<Status>) {
    const { code = 0, message = '', reason = '' } = result;
    super(code >= 400 ? code : 400, { reason, message: deniedText(webhook, message === '' ? reason : message) });
    this.name = 'Denial';
    this.#result = result;
  }

  override get status(): Status {
    const { reason = '', details } = this.#result;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code: this.code,
    };
  }
}

function deniedText(webhook: string, why: string): string {
  const denied = `admission webhook "${webhook}" denied the request`;
  return why === '' ? `${denied} without explanation` : `${denied}: ${why}`;
}

/** The webhook failed, not the request: `failurePolicy` decides what follows. */
export class CallFailure extends Error {
  constructor(webhook: string, why: string, options?: ErrorOptions) {
    super(`failed calling webhook "${webhook}": ${why}`, options);
    this.name = 'CallFailure';
  }
}

export function internalError(message: string): ApiError {
  return new ApiError(500, {
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';

/** The answer to the question `uid`, once it is sure that it is one. Throws `CallFailure`. */
export function responseOf(
  review: AdmissionReview,
  { webhook, uid, mutates }: { readonly webhook: string; readonly uid: string; readonly mutates: boolean },
): AdmissionResponse {
  const { response } = review;
  const problem = response ? responseProblem(review, response, uid, mutates) : 'webhook response was absent';
  if (response === undefined || problem !== undefined) {
    throw new CallFailure(webhook, `received invalid webhook response: ${problem ?? ''}`);
  }
  return response;
}

function responseProblem(
  review: AdmissionReview,
  response: AdmissionResponse,
  uid: string,
  mutates: boolean,
): string | undefined {
  const got = `${review.apiVersion.includes('/') ? '' : '/'}${review.apiVersion}, Kind=${review.kind}`;
  const { uid: answered = '' } = response as Partial<AdmissionResponse>;
  if (answered !== uid) {
    return `expected response.uid="${uid}", got "${answered}"`;
  }
  if (got !== expected) {
    return `expected webhook response of ${expected}, got ${got}`;
  }
  return patchProblem(response, mutates);
}

function patchProblem({ patch = '', patchType }: AdmissionResponse, mutates: boolean): string | undefined {
  if (!mutates) {
    const given = patch === '' ? patchType && 'patchType' : 'patch';
    return given && `validating webhook may not return response.${given}`;
  }
  if (patch !== '' && patchType === undefined) {
    return 'webhook returned response.patch but not response.patchType';
  }
  return patch === '' && patchType !== undefined
    ? 'webhook returned response.patchType but not response.patch'
    : undefined;
}

/** The operations of an answer's patch. Throws `CallFailure`. */
export function patchOf({ patch = '', patchType }: AdmissionResponse, webhook: string): readonly unknown[] {
  const operations = decoded(Buffer.from(patch, 'base64').toString('utf8'), webhook);
  if (operations.length > 0 && patchType !== 'JSONPatch') {
    throw new CallFailure(webhook, `unsupported patch type "${patchType ?? ''}"`);
  }
  return operations;
}

function decoded(text: string, webhook: string): readonly unknown[] {
  if (text === '') {
    return [];
  }
  const undecodable = 'received undecodable patch in webhook response';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CallFailure(webhook, `${undecodable}: ${String(error)}`, { cause: error });
  }
  if (!Array.isArray(value)) {
    const type = value === null ? 'null' : typeof value;
    throw new CallFailure(
      webhook,
      `${undecodable}: json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`,
    );
  }
  return value;
}

/** Headers carry no empty text and no control characters; the API server drops such warnings too. */
export function soundWarnings(warnings: readonly unknown[] | undefined): readonly string[] {
  return (warnings ?? []).filter((text) => typeof text === 'string').filter((text) => /^[^\p{Cc}]+$/u.test(text));
}
