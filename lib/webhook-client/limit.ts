export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** How long a call may take, and whether anybody still waits for it. */
export interface Limit {
  /** Throws once it is reached. */
  readonly check: () => void;
  /** What to end with it. */
  readonly ends: (abandon: () => void) => void;
}

/** A timer and a listener: a signal that joins both costs as much as a quarter of a call. */
export async function withLimit<T>({ timeoutMs, signal }: CallOptions, work: (limit: Limit) => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const reached = Promise.withResolvers<never>();
  let reason: Error | undefined;
  let abandon: (() => void) | undefined;
  function end(why: Error): void {
    reason = why;
    reached.reject(why);
    abandon?.();
  }
  function giveUp(): void {
    end(signal?.reason as Error);
  }
  function check(): void {
    if (reason !== undefined) {
      throw reason;
    }
  }
  const timer = setTimeout(() => end(new Error('context deadline exceeded')), timeoutMs);
  signal?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([reached.promise, work({ check, ends: (given) => (abandon = given) })]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
