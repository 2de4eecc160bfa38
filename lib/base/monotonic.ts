/** Milliseconds that only grow. `performance.now()` says the same, but its module costs a millisecond of every start. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
