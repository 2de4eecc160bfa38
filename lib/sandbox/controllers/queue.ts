import type { Clock } from '../model/internal.ts';

/** Keys to be looked at. A key that is added while it waits is looked at once; while it is looked at, once more. */
export interface Queue {
  add(key: string): void;
  addAfter(key: string, ms: number): void;
  close(): void;
}

export interface QueueOptions {
  /** How many keys are looked at side by side. */
  readonly workers?: number;
  /** How long a key is left alone after a look, however often it is added: for looks that cost much. */
  readonly restMs?: (key: string) => number;
}

const firstRetryMs = 10;
const longestRetryMs = 10_000;

/**
 * Looks at one key at a time per worker and tries again, ever more slowly, when that fails.
 * Every look starts in a turn of its own, so that a long queue does not hold up requests.
 */
export function createQueue(
  clock: Clock,
  look: (key: string) => Promise<void>,
  { workers = 4, restMs = () => 0 }: QueueOptions = {},
): Queue {
  const waiting = new Set<string>();
  const running = new Set<string>();
  const failures = new Map<string, number>();
  const timers = new Map<string, () => void>();
  const resting = new Map<string, () => void>();
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
      if (!running.has(key) && !resting.has(key)) {
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
    rest(key, restMs(key));
    if (waiting.size > 0) {
      schedule();
    }
  }

  function rest(key: string, ms: number): void {
    if (ms > 0 && !isClosed) {
      const wake = clock.after(ms, () => {
        resting.delete(key);
        schedule();
      });
      resting.set(key, wake);
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
      for (const cancel of [...timers.values(), ...resting.values()]) {
        cancel();
      }
      timers.clear();
      resting.clear();
      waiting.clear();
    },
  };
}
