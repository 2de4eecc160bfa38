import { Failure } from './failure.ts';

/** The promise, or `unavailable` when it takes too long. What it was doing is not stopped by this. */
export function withinTime<T>(promise: Promise<T>, limitMs: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Failure('unavailable', message)), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
