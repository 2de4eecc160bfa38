import { Failure } from './failure.ts';

/** Rejects with `unavailable` if the promise takes longer than the limit. Does not stop the work behind the promise. */
export function withinTime<T>(promise: Promise<T>, limitMs: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Failure('unavailable', message)), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
