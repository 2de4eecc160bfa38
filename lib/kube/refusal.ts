import { Failure, type FailureKind } from '../base/failure.ts';
import { skim, type Fields } from './skim.ts';
import type { Answer } from './transport.ts';
import type { Status } from './model/wire.ts';

/** The API server answered with an error status. */
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

/**
 * Turns an error status into a Failure whose kind says whether a retry helps.
 *
 * @param what what was tried, as verb and object: `get ingresses web`
 */
export function refusalOf(what: string, answer: Answer): Refusal {
  const status = statusOf(answer);
  const message = `could not ${what}: ${status.message ?? `HTTP ${answer.status}`}`;
  const retryAfter = retryAfterOf(answer, status);
  return new Refusal(kindOf(answer.status, status), message, {
    code: answer.status,
    reason: status.reason ?? '',
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** Whether the object does not exist. If the server does not serve the kind, its 404 names no object. */
export function isMissingObject(answer: Answer): boolean {
  return answer.status === 404 && statusOf(answer).details?.name !== undefined;
}

/**
 * The JSON of an answer, or the wanted fields of it. Text that is not JSON comes from something in front of the API
 * server, so a retry may help.
 */
export function parseAnswer(what: string, answer: Answer, fields: Fields = true): unknown {
  try {
    return fields === true ? JSON.parse(answer.body) : skim(answer.bytes, fields);
  } catch (error) {
    throw new Failure('unavailable', `could not ${what}: the answer is not JSON`, { cause: error });
  }
}

/** A right that the account of the client lacks. */
export interface MissingRight {
  readonly verb: string;
  /** With its group, as in `deployments.apps`. */
  readonly resource: string;
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
}

const missingRight = / cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;

/** The right that the call was refused for, if so; the API server names it only in words. Admission answers 403, too. */
export function missingRightIn(answer: Answer): MissingRight | undefined {
  const { message = '' } = answer.status === 403 ? statusOf(answer) : {};
  const [, verb, plural, group = '', namespace] = missingRight.exec(message) ?? [];
  if (verb === undefined || plural === undefined) {
    return undefined;
  }
  const resource = group === '' ? plural : `${plural}.${group}`;
  return { verb, resource, ...(namespace === undefined ? {} : { namespace }) };
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

/**
 * `unavailable`, because a starting API server refuses calls that it allows a moment later, and a right may be granted.
 */
function lacksRights({ message = '' }: Partial<Status>): boolean {
  return / cannot [a-z]+ (resource|path) /.test(message);
}

/** Another manager owns a field of an apply. A retry would not change that. */
function isContested({ details }: Partial<Status>): boolean {
  return details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
}

/**
 * The `test` of a JSON patch failed or its path is gone: another writer was faster. Invalid objects come with causes.
 */
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
