import type { Message } from './event.ts';
import { backoffMs } from '../base/backoff.ts';
import type { Growth } from '../base/doubling.ts';
import type { Pause } from '../base/pause.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import type { Reception, Sink } from './sink.ts';

/** The pauses and limits of a lane. */
export interface Pacing {
  /** Pauses before the retries of a new event. */
  readonly retriesMs: readonly number[];
  /** Pauses between tries while a sink is down. */
  readonly rest: Growth;
  /** From this number of waiting events on, the events of one object are merged. */
  readonly crowd: number;
  readonly pause: Pause;
}

export interface LaneOptions<Item> extends QueueOptions<Item> {
  readonly sink: Sink;
  /** Called once per send; retries repeat the message. */
  readonly messageOf: (item: Item) => Message;
  readonly pacing: Pacing;
  readonly report: Report;
  /** Starts nothing new; an active send may finish. */
  readonly stop: AbortSignal;
  /** Aborts the active send. */
  readonly abort: AbortSignal;
}

/** What a lane reports to its owner. */
export interface Report {
  readonly sent: (message: Message, tries: number) => void;
  /** Refused for good; it is not retried. */
  readonly lost: (message: Message, why: string) => void;
  /** All tries failed. It waits and is sent again. `isFirst` marks the beginning of an outage. */
  readonly kept: (message: Message, why: string, isFirst: boolean) => void;
  /** The sink accepts events again after an outage. */
  readonly recovered: (waiting: number) => void;
}

export interface Lane<Item> {
  readonly push: (item: Item) => void;
  readonly waiting: () => number;
  /** Resolves when the lane has stopped. */
  readonly ended: Promise<void>;
}

/**
 * Sends events to one sink, one at a time and in order, as the adapter of ApiServerSource does:
 *
 * | answer to a new event                                     | then                                         |
 * | --------------------------------------------------------- | -------------------------------------------- |
 * | 2xx                                                       | delivered                                    |
 * | 404, 413, 425, 429, 502, 503, 504, or a broken connection | retried after each of `retriesMs`, then kept |
 * | any other                                                 | lost at once                                 |
 *
 * `Retry-After` is ignored, as by the adapter. Unlike the adapter, a lane does not drop an event after its last retry
 * but keeps it. While anything is kept, only the newest state of each object waits, so the memory is bounded by the
 * number of objects. Kept events are tried one by one with growing pauses, new ones at once but without retries; the
 * first that is accepted ends the pauses. So an outage of any length loses nothing, and one object that a function
 * cannot handle does not block the others. Waiting events are lost with the process; a restarted source finds every
 * object anew, except those deleted in between.
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

  /** A failed new event shows nothing new while others are kept, so only kept ones lengthen the pause. */
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
