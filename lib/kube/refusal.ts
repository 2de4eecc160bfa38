import { Failure, type FailureKind } from '../function/failure.ts';
import type { Answer } from './transport.ts';
import type { Status } from './wire.ts';

/** The API server said no. */
export class Refusal extends Failure {
  readonly code: number;
  /** `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`, … */
  readonly reason: string;

  constructor(kind: FailureKind, message: string, details: { code: number; reason: string; retryAfter?: number }) {
    super(kind, message, details.retryAfter === undefined ? {} : { retryAfter: details.retryAfter });
    this.name = 'Refusal';
    this.code = details.code;
    this.reason = details.reason;
  }
}

/** Turns an unsuccessful answer into the failure that says whether trying again helps. */
export function refusalOf(what: string, answer: Answer): Refusal {
  const status = statusOf(answer);
  const message = `${what}: ${status.message ?? `HTTP ${answer.status}`}`;
  const retryAfter = retryAfterOf(answer, status);
  return new Refusal(kindOf(answer.status, status), message, {
    code: answer.status,
    reason: status.reason ?? '',
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function kindOf(code: number, status: Partial<Status>): FailureKind {
  if (code === 409 || isFailedTest(code, status)) {
    return 'conflict';
  }
  if (code === 429) {
    return 'throttled';
  }
  return code >= 500 || code === 401 || code === 410 ? 'unavailable' : 'impossible';
}

/** A JSON patch whose `test` fails, or whose path has vanished, answers 422: somebody else wrote in between. */
function isFailedTest(code: number, { details }: Partial<Status>): boolean {
  return code === 422 && details?.causes?.some(({ reason }) => reason === 'UnexpectedServerResponse') === true;
}

function statusOf({ body }: Answer): Partial<Status> {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function retryAfterOf({ headers }: Answer, { details }: Partial<Status>): number | undefined {
  const seconds = Number(headers['retry-after'] ?? details?.retryAfterSeconds);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
