import { Failure } from '../base/failure.ts';

export interface Limits {
  /** The number of runs that may be active at once. */
  readonly running: number;
  /** The number of events that may wait for a run; more are refused as `throttled`. */
  readonly waiting: number;
}

/**
 * Runs work at most once at a time per key. Items that arrive during a run share the next one:
 *
 * | time | call             | effect                                 |
 * | ---- | ---------------- | -------------------------------------- |
 * | 0    | `submit('a', 1)` | a run with `[1]` begins                |
 * | 1    | `submit('a', 2)` | waits                                  |
 * | 2    | `submit('a', 3)` | waits, too                             |
 * | 3    |                  | the run ends, one with `[2, 3]` begins |
 */
export interface Coalescer {
  /**
   * Resolves with the result of a run that began after this call. Waiting items of one key share one run, in order of
   * arrival; if it fails, the calls of all of them reject.
   */
  readonly submit: <Item, Result>(key: string, item: Item, work: Work<Item, Result>) => Promise<Result>;
  /** Resolves when nothing runs and nothing waits. */
  readonly idle: () => Promise<void>;
}

/** All submitters of a key must pass the same work. */
export type Work<Item, Result = void> = (items: readonly Item[]) => Promise<Result>;

interface Lane {
  running: boolean;
  next: Batch | undefined;
}

interface Batch {
  readonly add: (item: unknown) => void;
  readonly size: () => number;
  readonly run: () => Promise<void>;
  readonly done: Promise<unknown>;
}

export function createCoalescer({ running: runningLimit, waiting: waitingLimit }: Limits): Coalescer {
  const lanes = new Map<string, Lane>();
  // Lanes that wait for a run, in order of arrival. A busy key goes to the back after each run.
  const ready: { readonly key: string; readonly lane: Lane }[] = [];
  let running = 0;
  let waiting = 0;
  let whenIdle: PromiseWithResolvers<void> | undefined;

  function submit<Item, Result>(key: string, item: Item, work: Work<Item, Result>): Promise<Result> {
    if (waiting >= waitingLimit) {
      return Promise.reject(new Failure('throttled', 'too many events are waiting', { retryAfter: 1 }));
    }
    const lane = lanes.get(key) ?? { running: false, next: undefined };
    lanes.set(key, lane);
    if (lane.next === undefined) {
      lane.next = createBatch(work);
      if (!lane.running) {
        ready.push({ key, lane });
      }
    }
    lane.next.add(item);
    waiting += 1;
    const { done } = lane.next;
    fill();
    return done as Promise<Result>;
  }

  function fill(): void {
    while (running < runningLimit) {
      const first = ready.shift();
      if (first?.lane.next === undefined) {
        return;
      }
      void start(first.key, first.lane, first.lane.next);
    }
  }

  async function start(key: string, lane: Lane, batch: Batch): Promise<void> {
    lane.next = undefined;
    lane.running = true;
    running += 1;
    waiting -= batch.size();
    await batch.run();
    finish(key, lane);
  }

  function finish(key: string, lane: Lane): void {
    running -= 1;
    lane.running = false;
    if (lane.next === undefined) {
      lanes.delete(key);
    } else {
      ready.push({ key, lane });
    }
    fill();
    if (lanes.size === 0) {
      whenIdle?.resolve();
      whenIdle = undefined;
    }
  }

  return {
    submit,
    idle: () => {
      if (lanes.size === 0) {
        return Promise.resolve();
      }
      whenIdle ??= Promise.withResolvers();
      return whenIdle.promise;
    },
  };
}

function createBatch<Item, Result>(work: Work<Item, Result>): Batch {
  const items: Item[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  // Every submitter handles the rejection; without this line, a batch whose submitters are gone would end the process.
  promise.catch(() => undefined);
  return {
    add: (item) => items.push(item as Item),
    size: () => items.length,
    run: () => Promise.resolve(items).then(work).then(resolve, reject),
    done: promise,
  };
}
