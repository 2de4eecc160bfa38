import type { Status } from '../kube/wire.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface Refusal {
  readonly reason: string;
  readonly message: string;
  readonly details?: Status['details'];
  readonly retryAfter?: number;
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
    const { reason, message, details } = this.refusal;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code: this.code,
    };
  }
}

/** What the sandbox leaves out answers 501 by name, never something wrong. */
export function notServed(what: string): ApiError {
  return new ApiError(501, { reason: 'NotImplemented', message: `the sandbox does not serve ${what}` });
}
