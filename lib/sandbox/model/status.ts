import type { Status } from '../../kube/model/wire.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface Refusal {
  readonly reason?: string;
  readonly message: string;
  readonly details?: Status['details'];
  readonly retryAfter?: number;
  /** Where an expired list may go on, at the price of consistency. */
  readonly continueAt?: string;
}

/** A refusal that the sandbox answers with a Kubernetes Status. */
export class ApiError extends Error {
  readonly code: number;
  readonly refusal: Refusal;

  constructor(code: number, refusal: Refusal) {
    super(refusal.message);
    this.name = 'ApiError';
    this.code = code;
    this.refusal = refusal;
  }

  get status(): Status {
    const { reason, message, details, continueAt } = this.refusal;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueAt === undefined ? {} : { continue: continueAt },
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code: this.code,
    };
  }
}

/** What a refusal speaks of: `deployments.apps "web"`. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

/** What the sandbox leaves out answers 501 by name, never something wrong. */
export function notServed(what: string): ApiError {
  return new ApiError(501, { reason: 'NotImplemented', message: `the sandbox does not serve ${what}` });
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, { reason: 'BadRequest', message });
}

export function notFound(subject: Subject): ApiError {
  return new ApiError(404, {
    reason: 'NotFound',
    message: `${named(subject)} not found`,
    details: details(subject),
  });
}

/** Nothing is served under the path: the API server answers in plain text. */
export class UnknownPath extends Error {
  constructor() {
    super('404 page not found');
    this.name = 'UnknownPath';
  }
}

/** The group is served, the kind in it is not. */
export function unknownKind(): ApiError {
  return new ApiError(404, {
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

export function methodNotAllowed(): ApiError {
  return new ApiError(405, {
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

export function alreadyExists(subject: Subject): ApiError {
  return new ApiError(409, {
    reason: 'AlreadyExists',
    message: `${named(subject)} already exists`,
    details: details(subject),
  });
}

export function conflict(subject: Subject, why: string): ApiError {
  return new ApiError(409, {
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${named(subject)}: ${why}`,
    details: details(subject),
  });
}

export function forbidden(subject: Subject, why: string): ApiError {
  return new ApiError(403, {
    reason: 'Forbidden',
    message: `${named(subject)} is forbidden: ${why}`,
    details: details(subject),
  });
}

/** Refuses an object by its fields; `kind` is the kind's name, not its plural. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
): ApiError {
  const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const texts = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const text = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  return new ApiError(422, {
    reason: 'Invalid',
    message: `${what} "${name}" is invalid: ${text}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      causes: [...causes],
    },
  });
}

/** History no longer reaches back to what was asked for. */
export function expired(message: string, continueAt?: string): ApiError {
  return new ApiError(410, {
    reason: 'Expired',
    message,
    ...(continueAt === undefined ? {} : { continueAt }),
  });
}

/** Asks for a revision that this store has not reached. */
export function tooLargeResourceVersion(asked: number, current: number): ApiError {
  return new ApiError(504, {
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    retryAfter: 1,
  });
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(415, {
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}

function named({ group, plural, name }: Subject): string {
  return `${group === '' ? plural : `${plural}.${group}`} "${name}"`;
}

function details({ group, plural, name }: Subject): NonNullable<Status['details']> {
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}
