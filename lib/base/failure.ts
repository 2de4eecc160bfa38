/**
 * Why a function could not finish. The kind alone decides the HTTP status and whether the caller retries (`handling`).
 *
 * | kind          | means                                                      | status | retried |
 * | ------------- | ---------------------------------------------------------- | ------ | ------- |
 * | `malformed`   | the request is not valid                                   | 400    | no      |
 * | `impossible`  | the request is valid, but can never succeed                | 422    | no      |
 * | `conflict`    | another writer was faster                                  | 503    | yes     |
 * | `throttled`   | too much is going on at the moment                         | 503    | yes     |
 * | `unavailable` | something that is needed does not answer, or denies access | 503    | yes     |
 * | `bug`         | any other error                                            | 500    | yes     |
 */
export type FailureKind = 'malformed' | 'impossible' | 'conflict' | 'throttled' | 'unavailable' | 'bug';

export interface Handling {
  readonly status: number;
  readonly retry: boolean;
}

/** Both direct sources and brokers retry 503; direct sources drop 409 and 500. */
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
  /** Seconds after which a retry makes sense. */
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

/** Returns a Failure as it is and wraps any other error in a `bug`. */
export function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('bug', 'unexpected error', { cause: error });
}
