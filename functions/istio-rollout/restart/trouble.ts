import { asFailure, type Failure } from '../../../lib/base/failure.ts';

/** What the API server, or the way to it, did to one of many: the others can go on. A bug is thrown on. */
export function troubleOf(error: unknown): Failure {
  const failure = asFailure(error);
  if (failure.kind === 'bug') {
    throw error;
  }
  return failure;
}
