import { setTimeout } from 'node:timers/promises';

/** Waits until the condition holds; fails with `what` if it does not hold in time. */
export async function until(condition: () => boolean, what: string, withinMs = 120_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) {
      throw new Error(`timed out waiting for ${what}`);
    }
    await setTimeout(2);
  }
}
