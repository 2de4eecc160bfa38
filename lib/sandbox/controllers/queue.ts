import type { Clock } from '../internal.ts';

/** Keys to be looked at. A key that is added while it waits is looked at once; while it is looked at, once more. */
export interface Queue {
  add(key: string): void;
  addAfter(key: string, ms: number): void;
  close(): void;
}

const firstRetryMs = 10;
const longestRetryMs = 10_000;

/**
 * Looks at one key at a time per worker and tries again, ever more slowly, when that fails.
 * Every look starts in a turn of its own, so that a long queue does not hold up requests.
 */
export function createQueue(clock: Clock, look: (key: string) => Promise<void>, workers = 4): Queue {
  const waiting = new Set<string>();
  const running = new Set<string>();
  const failures = new Map<string, number>();
  const timers = new Map<string, () => void>();
  let isClosed = false;
  let isScheduled = false;

  function schedule(): void {
    if (!isScheduled && !isClosed) {
      isScheduled = true;
      setImmediate(pump);
    }
  }

  function pump(): void {
    isScheduled = false;
    for (const key of waiting) {
      if (isClosed || running.size >= workers) {
        return;
      }
      if (!running.has(key)) {
        waiting.delete(key);
        void run(key);
      }
    }
  }

  async function run(key: string): Promise<void> {
    running.add(key);
    try {
      await look(key);
      failures.delete(key);
    } catch {
      retry(key);
    }
    running.delete(key);
    if (waiting.size > 0) {
      schedule();
    }
  }

  function retry(key: string): void {
    const count = failures.get(key) ?? 0;
    failures.set(key, count + 1);
    addAfter(key, Math.min(firstRetryMs * 2 ** count, longestRetryMs));
  }

  function add(key: string): void {
    waiting.add(key);
    schedule();
  }

  function addAfter(key: string, ms: number): void {
    if (isClosed) {
      return;
    }
    timers.get(key)?.();
    const cancel = clock.after(ms, () => {
      timers.delete(key);
      add(key);
    });
    timers.set(key, cancel);
  }

  return {
    add,
    addAfter,
    close() {
      isClosed = true;
      for (const cancel of timers.values()) {
        cancel();
      }
      timers.clear();
      waiting.clear();
    },
  };
}
