import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Verdict } from '../function/admission.ts';
import type { Context } from '../function/definition.ts';
import { asFailure, Failure } from '../base/failure.ts';
import type { AdmissionRequest, AdmissionResponse } from '../kube/model/review.ts';
import { monotonicMs } from '../base/monotonic.ts';
import { withinTime } from '../base/time-limit.ts';
import { sendFailure, sendText } from './answer.ts';
import { parseBody, TooLarge, type BodyReader } from './body.ts';
import type { Answerer } from './front.ts';

/** Subtracted from the caller's time limit, so that the answer arrives in time. */
const marginMs = 200;

export interface AdmissionOptions<C> {
  readonly admission: Admission<C>;
  readonly context: Context<C>;
  readonly bodies: BodyReader;
  /** Larger reviews are refused. */
  readonly maxBytes: number;
  /** Called after each answer, with its duration and, if the verdict comes from `onError`, the failure. */
  readonly onVerdict: (request: AdmissionRequest, verdict: Verdict, course: Course) => void;
  /** Called for each request that is not a valid review. */
  readonly onRefused: (status: number) => void;
}

export interface Course {
  readonly ms: number;
  readonly error?: unknown;
}

/**
 * Answers the AdmissionReviews of one webhook path. Once the uid is known, the answer is always HTTP 200. Every create
 * in the cluster may wait for this, so a synchronous verdict is sent without a promise or a timer.
 */
export function answerAdmission<C>(options: AdmissionOptions<C>): Answerer {
  const { admission, bodies, maxBytes, context, onVerdict, onRefused } = options;

  function refuse(response: ServerResponse, failure: Failure): void {
    const answered = sendRefusal(response, failure);
    onRefused(answered);
  }

  function decide(review: Review, request: IncomingMessage, response: ServerResponse): void {
    const began = monotonicMs();
    function fail(error: unknown): void {
      const verdict = fallback(admission);
      sendReview(response, reviewText(review, verdict));
      onVerdict(review.request, verdict, { ms: monotonicMs() - began, error });
    }
    function settle(verdict: Verdict): void {
      let text: string;
      try {
        text = reviewText(review, verdict);
      } catch (error) {
        fail(error);
        return;
      }
      sendReview(response, text);
      onVerdict(review.request, verdict, { ms: monotonicMs() - began });
    }
    let verdict: Verdict | Promise<Verdict>;
    try {
      verdict = admission.decide(review.request, context);
    } catch (error) {
      fail(error);
      return;
    }
    if (verdict instanceof Promise) {
      withinTime(verdict, timeLimit(request, admission), 'could not decide in time').then(settle, fail);
    } else {
      settle(verdict);
    }
  }

  return (request, response) => {
    if (!isJson(request)) {
      request.resume();
      refuse(response, new WrongMediaType());
      return;
    }
    bodies.receive(request, response, {
      limit: maxBytes,
      onFailure: (failure) => refuse(response, failure),
      onBody: (body) => {
        let review: Review;
        try {
          review = parseReview(body);
        } catch (error) {
          refuse(response, asFailure(error));
          return;
        }
        decide(review, request, response);
      },
    });
  };
}

class WrongMediaType extends Failure {
  constructor() {
    super('malformed', 'send application/json');
  }
}

function isJson({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'] ?? '';
  return type === 'application/json' || /^application\/json\s*(;|$)/i.test(type);
}

/** Answers an unreadable request with a status, and returns that status. */
function sendRefusal(response: ServerResponse, failure: Failure): number {
  if (failure instanceof WrongMediaType) {
    sendText(response, 415, `malformed: ${failure.message}`);
  } else if (failure instanceof TooLarge) {
    response.shouldKeepAlive = false;
    sendText(response, 413, `malformed: ${failure.message}`);
  } else {
    sendFailure(response, failure);
  }
  return response.statusCode;
}

interface Review {
  readonly apiVersion: string;
  readonly request: AdmissionRequest;
}

/** Both versions have the same fields; the answer has the version of the request. */
const versions: ReadonlySet<unknown> = new Set(['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']);

function parseReview(body: Buffer): Review {
  const review = parseBody(body);
  if (!isReview(review)) {
    throw new Failure('malformed', 'not an AdmissionReview of admission.k8s.io/v1 with a request and its uid');
  }
  return review;
}

function isReview(value: unknown): value is Review {
  const { apiVersion, kind, request } = fields(value);
  const { uid } = fields(request);
  return versions.has(apiVersion) && kind === 'AdmissionReview' && typeof uid === 'string' && uid !== '';
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The API server passes its time limit in the query. */
function timeLimit({ url = '' }: IncomingMessage, { timeoutSeconds }: { readonly timeoutSeconds: number }): number {
  const [, given] = /[?&]timeout=(\d+)s/.exec(url) ?? [];
  const seconds = given === undefined ? timeoutSeconds : Math.min(Number(given), timeoutSeconds);
  return Math.max(seconds * 1000 - marginMs, 100);
}

function fallback<C>({ onError }: Admission<C>): Verdict {
  return onError === 'allow'
    ? { allow: true }
    : { allow: false, code: 503, reason: 'ServiceUnavailable', message: 'could not check the request; try again' };
}

function reviewText({ apiVersion, request }: Review, verdict: Verdict): string {
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: responseOf(request.uid, verdict) });
}

function sendReview(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Built field by field for speed: every create in the cluster may need it. */
function responseOf(uid: string, verdict: Verdict): AdmissionResponse {
  const response: Writable<AdmissionResponse> = { uid, allowed: verdict.allow };
  if (!verdict.allow) {
    const { code = 403, reason = 'Forbidden', message, causes } = verdict;
    const details = causes === undefined ? {} : { details: { causes: [...causes] } };
    response.status = { code, reason, message, ...details };
  } else if (verdict.patch !== undefined && verdict.patch.length > 0) {
    response.patchType = 'JSONPatch';
    response.patch = Buffer.from(JSON.stringify(verdict.patch)).toString('base64');
  }
  if (verdict.warnings !== undefined && verdict.warnings.length > 0) {
    response.warnings = verdict.warnings;
  }
  if (verdict.auditAnnotations !== undefined) {
    response.auditAnnotations = verdict.auditAnnotations;
  }
  return response;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
