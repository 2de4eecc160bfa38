import { Failure, type FailureKind } from '../base/failure.ts';
import { skim, type Fields } from './skim.ts';
import type { Answer } from './transport.ts';
import type { Status } from './model/wire.ts';

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

/** Is there no such object? Of a kind that it does not know, a server names none. */
export function isMissingObject(answer: Answer): boolean {
  return answer.status === 404 && statusOf(answer).details?.name !== undefined;
}

/** The JSON of an answer, or the wanted fields of it. Something between us and the API server may have answered in its place: try again. */
export function parseAnswer(what: string, answer: Answer, fields: Fields = true): unknown {
  try {
    return fields === true ? JSON.parse(answer.body) : skim(answer.bytes, fields);
  } catch (error) {
    throw new Failure('unavailable', `${what}: the answer is not JSON`, { cause: error });
  }
}

/** Whether the API server refused the call because the account has no such right. Admission refuses with 403, too. */
export function isRightMissing(answer: Answer): boolean {
  return answer.status === 403 && lacksRights(statusOf(answer));
}

function kindOf(code: number, status: Partial<Status>): FailureKind {
  switch (code) {
    case 409:
      return isContested(status) ? 'impossible' : 'conflict';
    case 422:
      return isFailedTest(status) ? 'conflict' : 'impossible';
    case 429:
      return 'throttled';
    case 401:
    case 410:
      return 'unavailable';
    case 403:
      return lacksRights(status) ? 'unavailable' : 'impossible';
    default:
      return code >= 500 ? 'unavailable' : 'impossible';
  }
}

/** An API server that has just started refuses what it will allow in a moment, and a missing right may yet be granted. */
function lacksRights({ message = '' }: Partial<Status>): boolean {
  return / cannot [a-z]+ (resource|path) /.test(message);
}

/** Another manager owns a field of an apply, and will own it at the next try too. */
function isContested({ details }: Partial<Status>): boolean {
  return details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
}

/** A JSON patch whose `test` fails or whose path has vanished: somebody wrote in between. Invalid objects come with causes. */
function isFailedTest({ details }: Partial<Status>): boolean {
  return (details?.causes ?? []).length === 0;
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
