/** A value read by many at the price of one reading: all who ask within its life get the same. */
export interface Shared<T> {
  /** A value that was read no longer than `maxAgeMs` before `nowMs`, on a clock that never jumps. */
  readonly get: (read: () => Promise<T>, nowMs: number, maxAgeMs: number) => Promise<T>;
  /** When the value at hand was read. */
  readonly readAt: () => number | undefined;
}

/** From this part of its life on a value is read anew while it still serves: then nobody waits for the reading. */
const ripe = 0.85;

export function createShared<T>(): Shared<T> {
  let held: { readonly at: number; readonly value: T } | undefined;
  let coming: Promise<T> | undefined;

  async function renew(read: () => Promise<T>, at: number): Promise<T> {
    try {
      const value = await read();
      held = { at, value };
      return value;
    } finally {
      coming = undefined;
    }
  }

  return {
    readAt: () => held?.at,
    get(read, nowMs, maxAgeMs) {
      if (maxAgeMs === 0) {
        return renew(read, nowMs);
      }
      const age = held === undefined ? Infinity : nowMs - held.at;
      if (age >= maxAgeMs * ripe && coming === undefined) {
        coming = renew(read, nowMs);
        // Whoever waits for it is told; while the old value serves there is nobody to tell.
        coming.catch(() => undefined);
      }
      return held !== undefined && age <= maxAgeMs ? Promise.resolve(held.value) : (coming ?? renew(read, nowMs));
    },
  };
}
