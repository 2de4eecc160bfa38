/** Milliseconds that never go back. Same as `performance.now()`, whose module adds 1 ms to every start. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
