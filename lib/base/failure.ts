/** Why a function could not finish. The kind alone decides the HTTP status and whether the caller tries again. */
export type FailureKind = 'malformed' | 'impossible' | 'conflict' | 'throttled' | 'unavailable' | 'bug';

export interface Handling {
  readonly status: number;
  readonly retry: boolean;
}

/** 503 is the one status that a source sending directly and a broker both retry; 409 and 500 are dropped by the former. */
export const handling: Readonly<Record<FailureKind, Handling>> = {
  malformed: { status: 400, retry: false },
  impossible: { status: 422, retry: false },
  conflict: { status: 503, retry: true },
  throttled: { status: 503, retry: true },
  unavailable: { status: 503, retry: true },
  bug: { status: 500, retry: true },
};

export interface FailureOptions {
  readonly cause?: unknown;
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number;
}

export class Failure extends Error {
  readonly kind: FailureKind;
  readonly retryAfter: number | undefined;

  constructor(kind: FailureKind, message: string, { cause, retryAfter }: FailureOptions = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'Failure';
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

/** Whatever was thrown, as a Failure: what nobody foresaw is a bug. */
export function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('bug', 'unexpected error', { cause: error });
}
