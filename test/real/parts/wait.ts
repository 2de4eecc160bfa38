import { setTimeout as pause } from 'node:timers/promises';

const shortestRestMs = 20;
const longestRestMs = 500;

/**
 * Looks again and again, on a machine that may be busy: resolves with the first outcome that is not `undefined`. It rests
 * as long as a look takes, to leave those the time who have to bring the outcome about.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  withinMs = 240_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    const outcome = await look();
    if (outcome !== undefined) {
      return outcome;
    }
    const ended = performance.now();
    if (ended > deadline) {
      throw new Error(`waited ${withinMs / 1000} s in vain: ${what}`);
    }
    await pause(Math.min(Math.max(ended - began, shortestRestMs), longestRestMs));
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
