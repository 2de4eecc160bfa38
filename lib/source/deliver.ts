import type { Message } from './event.ts';
import { backoffMs } from '../base/backoff.ts';
import type { Growth } from '../base/doubling.ts';
import type { Pause } from '../base/pause.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import type { Reception, Sink } from './sink.ts';

/** How patient a lane is. */
export interface Pacing {
  /** Waits before the further tries of a new event. */
  readonly retriesMs: readonly number[];
  /** Waits between looks at a sink that is down. */
  readonly rest: Growth;
  /** From so many waiting events on, those of one object become one. */
  readonly crowd: number;
  readonly pause: Pause;
}

export interface LaneOptions<Item> extends QueueOptions<Item> {
  readonly sink: Sink;
  /** Called once for each send; its tries repeat the message. */
  readonly messageOf: (item: Item) => Message;
  readonly pacing: Pacing;
  readonly report: Report;
  /** Takes up nothing more; what is being sent may finish. */
  readonly stop: AbortSignal;
  /** Breaks off what is being sent. */
  readonly abort: AbortSignal;
}

/** What a lane tells its owner. */
export interface Report {
  readonly sent: (message: Message, tries: number) => void;
  /** Refused for good: nobody will send it again. */
  readonly lost: (message: Message, why: string) => void;
  /** All tries failed. It waits, and is sent again. The first since the sink took something begins an outage. */
  readonly kept: (message: Message, why: string, isFirst: boolean) => void;
  /** The sink answers again after something had to be kept. */
  readonly recovered: (waiting: number) => void;
}

export interface Lane<Item> {
  readonly push: (item: Item) => void;
  readonly waiting: () => number;
  /** Resolves when the lane has stopped. */
  readonly ended: Promise<void>;
}

/**
 * Sends events to one sink, one at a time and in order, as the adapter of ApiServerSource does: a new event that meets
 * 404, 413, 425, 429, 502, 503, 504 or a broken connection is tried again after each of `retriesMs`, `Retry-After`
 * or not; any other status that is not 2xx loses it at once.
 *
 * Then it does better. The adapter drops an event whose tries are used up; a lane keeps it, and while anything is
 * kept only the newest state of each object waits, so a sink that is down costs no more memory than there are objects.
 * Kept events are tried one by one with growing rests, new ones at once, each a single time; the first
 * that is accepted ends the rest and the others follow. So an outage of any length loses nothing, and one object that a
 * function cannot deal with now does not hold up the others. What waits is lost with the process: a source that starts
 * finds every object anew, except for those that were deleted meanwhile.
 */
export function createLane<Item>(options: LaneOptions<Item>): Lane<Item> {
  const { sink, messageOf, pacing, report, stop, abort } = options;
  const queue = createQueue(options);
  let failures = 0;
  let resting: Promise<void> | undefined;
  let arrival = Promise.withResolvers<void>();

  function push(item: Item): void {
    queue.push(item, failures > 0 || queue.size() >= pacing.crowd);
    arrival.resolve();
  }

  async function run(): Promise<void> {
    while (!stop.aborted) {
      const fresh = queue.takeFresh();
      const item = fresh ?? (resting === undefined ? queue.takeTried() : undefined);
      if (item === undefined) {
        await nextWork();
      } else {
        await deliver(item, fresh !== undefined);
      }
    }
  }

  async function nextWork(): Promise<void> {
    arrival = Promise.withResolvers();
    await Promise.race([arrival.promise, ...(resting === undefined ? [] : [resting])]);
  }

  async function deliver(item: Item, isFresh: boolean): Promise<void> {
    const message = messageOf(item);
    const patient = isFresh && failures === 0;
    const { result, why, tries } = await attempt(message, patient ? pacing.retriesMs : []);
    if (result === 'unavailable') {
      queue.giveBack(item);
      if (!stop.aborted) {
        report.kept(message, why, failures === 0);
        await fall(isFresh);
      }
      return;
    }
    rise();
    if (result === 'accepted') {
      report.sent(message, tries);
    } else {
      report.lost(message, why);
    }
  }

  async function attempt(
    message: Message,
    retriesMs: readonly number[],
  ): Promise<Reception & { readonly tries: number }> {
    let reception = await sink.post(message, abort);
    let tries = 1;
    for (const waitMs of retriesMs) {
      if (reception.result !== 'unavailable') {
        break;
      }
      await pacing.pause(waitMs, stop);
      if (stop.aborted) {
        break;
      }
      reception = await sink.post(message, abort);
      tries += 1;
    }
    return { ...reception, tries };
  }

  /** A new event that fails while others are kept says nothing new about the sink; only haste is held back. */
  async function fall(isFresh: boolean): Promise<void> {
    if (isFresh && failures > 0) {
      await pacing.pause(pacing.retriesMs[0] ?? 0, stop);
      return;
    }
    failures += 1;
    const rest = pacing.pause(backoffMs(failures, pacing.rest), stop).then(() => {
      resting = resting === rest ? undefined : resting;
    });
    resting = rest;
  }

  function rise(): void {
    resting = undefined;
    if (failures > 0) {
      failures = 0;
      report.recovered(queue.size());
    }
  }

  stop.addEventListener('abort', () => arrival.resolve(), { once: true });
  return { push, waiting: () => queue.size(), ended: run() };
}
