import { setTimeout } from 'node:timers/promises';

/** How a part waits, so that a test can turn its clock instead. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after so many milliseconds, or as soon as the signal ends the wait. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
