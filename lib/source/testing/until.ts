import { setTimeout } from 'node:timers/promises';

/** Waits until the condition holds, and fails with what was awaited when it does not come about. */
export async function until(condition: () => boolean, what: string, withinMs = 120_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) {
      throw new Error(`waited in vain: ${what}`);
    }
    await setTimeout(2);
  }
}
