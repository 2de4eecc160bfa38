import { setTimeout as pause } from 'node:timers/promises';

/** Looks again and again, on a machine that may be busy: resolves with the first outcome that is not `undefined`. */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  withinMs = 90_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const outcome = await look();
    if (outcome !== undefined) {
      return outcome;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${withinMs / 1000} s in vain: ${what}`);
    }
    await pause(20);
  }
}

/** The same for a plain condition. */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs?: number,
): Promise<void> {
  await waitFor(what, async () => ((await holds()) ? true : undefined), withinMs);
}
