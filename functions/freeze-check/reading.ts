import { withinTime } from '../../lib/base/time-limit.ts';
import type { Config } from './config.ts';

/** Parts of the time that the API server waits: for one read, and for all that a review takes but the way of its answer. */
const share = { read: 0.4, review: 0.8 };

/**
 * What is read for a review, or a failure while there is still time to say so. The next review then reads for itself
 * instead of waiting for what hangs.
 */
export function inTime<T>(context: { readonly config: Config }, reading: Promise<T>, what: string): Promise<T> {
  return withinTime(reading, msOf(share.read, context), `${what} could not be read in time`);
}

/** What a review comes to, or a failure in time: reads that follow each other may each be fast enough and too slow together. */
export function judgedInTime<T>(context: { readonly config: Config }, judging: Promise<T>): Promise<T> {
  return withinTime(judging, msOf(share.review, context), 'what the change depends on could not be read in time');
}

function msOf(part: number, { config }: { readonly config: Config }): number {
  return config.WEBHOOK_TIMEOUT_SECONDS * 1000 * part;
}
