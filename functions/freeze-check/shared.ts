/** A value read by many at the price of one reading: all who ask within its life get the same. */
export interface Shared<T> {
  /** A value that was read no longer than `maxAgeMs` before `nowMs`, on a clock that never jumps. */
  readonly get: (read: () => Promise<T>, nowMs: number, maxAgeMs: number) => Promise<T>;
  /** When the value at hand was read. */
  readonly readAt: () => number | undefined;
}

/** From this part of its life on a value is read anew while it still serves: then nobody waits for the reading. */
const ripe = 0.85;

/** A reading, as old as the moment at which it began. */
interface Reading<T> {
  readonly at: number;
  readonly promise: Promise<T>;
}

export function createShared<T>(): Shared<T> {
  let held: { readonly at: number; readonly value: T } | undefined;
  let coming: Reading<T> | undefined;

  async function renew(read: () => Promise<T>, at: number): Promise<T> {
    try {
      const value = await read();
      if (held === undefined || held.at <= at) {
        held = { at, value };
      }
      return value;
    } finally {
      if (coming?.at === at) {
        coming = undefined;
      }
    }
  }

  function begin(read: () => Promise<T>, at: number): Reading<T> {
    const promise = renew(read, at);
    // Whoever waits for it is told; while the old value serves there is nobody to tell.
    promise.catch(() => undefined);
    return { at, promise };
  }

  return {
    readAt: () => held?.at,
    get(read, nowMs, maxAgeMs) {
      if (maxAgeMs === 0) {
        return renew(read, nowMs);
      }
      const age = held === undefined ? Infinity : nowMs - held.at;
      if (held !== undefined && age < maxAgeMs * ripe) {
        return Promise.resolve(held.value);
      }
      // A reading that began too long ago may miss what has been written since.
      coming = coming !== undefined && nowMs - coming.at <= maxAgeMs ? coming : begin(read, nowMs);
      return held !== undefined && age <= maxAgeMs ? Promise.resolve(held.value) : coming.promise;
    },
  };
}
