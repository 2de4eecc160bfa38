import { setTimeout } from 'node:timers/promises';

/** How a part waits; tests pass one that advances a virtual clock. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or earlier when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
