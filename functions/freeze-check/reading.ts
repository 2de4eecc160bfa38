import { withinTime } from '../../lib/time-limit.ts';
import type { Config } from './config.ts';

/** Part of the time that the API server waits: room for two reads one after the other, and for the answer. */
const share = 0.4;

/**
 * What is read for a review, or a failure while there is still time to say so. The next review then reads for itself
 * instead of waiting for what hangs.
 */
export function inTime<T>({ config }: { readonly config: Config }, reading: Promise<T>, what: string): Promise<T> {
  return withinTime(reading, config.WEBHOOK_TIMEOUT_SECONDS * 1000 * share, `${what} could not be read in time`);
}
