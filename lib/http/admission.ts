import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Context, Verdict } from '../function/define.ts';
import { Failure } from '../function/failure.ts';
import type { AdmissionRequest, AdmissionResponse } from '../review/review.ts';
import { withinTime } from '../time-limit.ts';
import { sendFailure, sendText } from './answer.ts';
import { parseJson, TooLarge, type BodyReader } from './body.ts';

/** A review carries the object and the old object, each up to the 3 MB that the API server takes. */
const reviewLimit = 7 * 1024 * 1024;

/** Kept back from the caller's time limit, so that our answer arrives before it gives up. */
const marginMs = 200;

export interface AdmissionOptions<C> {
  readonly admission: Admission<C>;
  readonly context: Context<C>;
  readonly bodies: BodyReader;
  readonly onVerdict: (request: AdmissionRequest, verdict: Verdict, error?: unknown) => void;
}

/** Answers AdmissionReviews of one webhook path. Once the uid is known the answer is always HTTP 200. */
export function answerAdmission<C>(
  options: AdmissionOptions<C>,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    readReview(request, response, options.bodies)
      .then((review) => decide(review, timeLimit(request, options.admission), options))
      .then((answer) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      })
      .catch((error: unknown) => refuse(response, error));
  };
}

async function readReview(request: IncomingMessage, response: ServerResponse, bodies: BodyReader): Promise<Review> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new WrongMediaType();
  }
  const review = parseJson(await bodies.read(request, response, reviewLimit));
  if (!isReview(review)) {
    throw new Failure('malformed', 'not an AdmissionReview of admission.k8s.io/v1 with a request and its uid');
  }
  return review;
}

class WrongMediaType extends Error {}

function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof WrongMediaType) {
    sendText(response, 415, 'malformed: send application/json');
  } else if (error instanceof TooLarge) {
    sendText(response, 413, `malformed: ${error.message}`);
  } else {
    sendFailure(
      response,
      error instanceof Failure ? error : new Failure('unavailable', 'read the review', { cause: error }),
    );
  }
}

interface Review {
  readonly apiVersion: string;
  readonly request: AdmissionRequest;
}

/** Both have the same fields; who asks in one is answered in it. */
const versions: ReadonlySet<unknown> = new Set(['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']);

function isReview(value: unknown): value is Review {
  const { apiVersion, kind, request } = fields(value);
  const { uid } = fields(request);
  return versions.has(apiVersion) && kind === 'AdmissionReview' && typeof uid === 'string' && uid !== '';
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The API server says in the query how long it will wait. */
function timeLimit({ url = '' }: IncomingMessage, { timeoutSeconds }: { readonly timeoutSeconds: number }): number {
  const [, given] = /[?&]timeout=(\d+)s/.exec(url) ?? [];
  const seconds = given === undefined ? timeoutSeconds : Math.min(Number(given), timeoutSeconds);
  return Math.max(seconds * 1000 - marginMs, 100);
}

async function decide<C>(review: Review, limitMs: number, options: AdmissionOptions<C>): Promise<string> {
  const { admission, context, onVerdict } = options;
  const { request } = review;
  try {
    const verdict = await inTime(admission.decide(request, context), limitMs);
    onVerdict(request, verdict);
    return reviewText(review, verdict);
  } catch (error) {
    const verdict = fallback(admission);
    onVerdict(request, verdict, error);
    return reviewText(review, verdict);
  }
}

/** A verdict that is there already needs no timer. */
function inTime(verdict: Verdict | Promise<Verdict>, limitMs: number): Verdict | Promise<Verdict> {
  return verdict instanceof Promise ? withinTime(verdict, limitMs, 'no verdict in time') : verdict;
}

function fallback<C>({ onError }: Admission<C>): Verdict {
  return onError === 'allow'
    ? { allow: true }
    : { allow: false, code: 503, reason: 'ServiceUnavailable', message: 'the check could not be made, try again' };
}

function reviewText({ apiVersion, request }: Review, verdict: Verdict): string {
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: responseOf(request.uid, verdict) });
}

function responseOf(uid: string, verdict: Verdict): AdmissionResponse {
  const { warnings = [], auditAnnotations } = verdict;
  const extra = {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
  };
  if (!verdict.allow) {
    const { code = 403, reason = 'Forbidden', message, causes } = verdict;
    const details = causes === undefined ? {} : { details: { causes: [...causes] } };
    return { uid, allowed: false, status: { code, reason, message, ...details }, ...extra };
  }
  const { patch = [] } = verdict;
  return patch.length === 0
    ? { uid, allowed: true, ...extra }
    : {
        uid,
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
        ...extra,
      };
}
