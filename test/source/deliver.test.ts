import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLane, type Lane, type LaneOptions, type Pacing, type Report } from '../../lib/source/deliver.ts';
import type { Message } from '../../lib/source/event.ts';
import { createSink, type Sink } from '../../lib/source/sink.ts';
import { startRecorder, type Recorder } from '../../lib/source/testing/recorder.ts';
import { until } from '../../lib/source/testing/until.ts';
import { createVirtualClock, type VirtualClock } from '../../lib/source/testing/virtual-clock.ts';

interface Item {
  readonly key: string;
  readonly change: string;
}

interface Reported {
  readonly sent: string[];
  readonly lost: string[];
  readonly kept: string[];
  readonly recovered: number[];
}

const adapterWaits = [100, 200, 400, 800, 1600];

let recorder: Recorder;
let clock: VirtualClock;
let stopping: AbortController;
let sink: Sink;
let reported: Reported;

beforeEach(async () => {
  recorder = await startRecorder();
  clock = createVirtualClock();
  stopping = new AbortController();
  sink = createSink(recorder.url);
  reported = { sent: [], lost: [], kept: [], recovered: [] };
});

afterEach(async () => {
  stopping.abort();
  sink.close();
  await recorder.close();
});

function lane(pacing: Partial<Pacing> = {}, to: Pick<Sink, 'post'> = sink): Lane<Item> {
  const options: LaneOptions<Item> = {
    sink: { ...sink, ...to },
    keyOf: ({ key }) => key,
    merge: (_older, newer) => newer,
    messageOf,
    report: report(),
    pacing: {
      retriesMs: adapterWaits,
      rest: { firstMs: 1_000, longestMs: 15_000 },
      crowd: 1_000,
      pause: clock.pause,
      ...pacing,
    },
    stop: stopping.signal,
    abort: stopping.signal,
  };
  return createLane(options);
}

function messageOf({ key, change }: Item): Message {
  return {
    headers: { 'ce-id': crypto.randomUUID(), 'ce-type': change, 'ce-name': key, 'ce-namespace': '' },
    body: '{}',
  };
}

function report(): Report {
  return {
    sent: (message, tries) => reported.sent.push(`${says(message)} in ${tries}`),
    lost: (message, why) => reported.lost.push(`${says(message)}: ${why}`),
    kept: (message, why, isFirst) => reported.kept.push(`${says(message)}: ${why}${isFirst ? ', first' : ''}`),
    recovered: (waiting) => reported.recovered.push(waiting),
  };
}

function says({ headers }: Message): string {
  return `${headers['ce-type'] ?? ''} ${headers['ce-name'] ?? ''}`;
}

/** The last event that the sink accepted of each object. */
function lastHeard(): Map<unknown, unknown> {
  return new Map(recorder.accepted.map(({ headers }) => [headers['ce-name'], headers['ce-type']]));
}

function isNewest(change: unknown): boolean {
  return change === 'round-99';
}

function items(...texts: string[]): Item[] {
  return texts.map((text) => {
    const [change = '', key = ''] = text.split(' ');
    return { change, key };
  });
}

function pushAll(to: Lane<Item>, ...texts: string[]): void {
  for (const item of items(...texts)) {
    to.push(item);
  }
}

describe('a lane', () => {
  it('sends in order, one at a time, over one connection', async () => {
    let underway = 0;
    recorder.answerWith(async () => {
      underway += 1;
      expect(underway).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      underway -= 1;
      return 204;
    });
    const events = Array.from({ length: 100 }, (_, index) => `update ${index % 7}`);

    pushAll(lane(), ...events);
    await until(() => recorder.received.length === 100, 'all events');

    expect(recorder.received.map((event) => event.says)).toEqual(events);
    expect(recorder.connections()).toBe(1);
    expect(clock.pauses).toEqual([]);
  });

  it.each([404, 413, 425, 429, 502, 503, 504, 'cut' as const])('retries a new event after %s', async (answer) => {
    let tries = 0;
    recorder.answerWith(() => (++tries < 6 ? answer : 204));

    pushAll(lane(), 'add a');
    await until(() => reported.sent.length === 1, 'a delivery');

    expect(reported.sent).toEqual(['add a in 6']);
    expect(clock.pauses).toEqual(adapterWaits);
    expect(new Set(recorder.received.map(({ headers }) => headers['ce-id'])).size).toBe(1);
  });

  it.each([301, 400, 401, 403, 408, 409, 415, 422, 500, 501])('loses an event at once after %s', async (status) => {
    recorder.answerWith(({ says: event }) => (event === 'add a' ? status : 204));

    pushAll(lane(), 'add a', 'add b');
    await until(() => reported.sent.length === 1, 'the next delivery');

    expect(reported).toEqual({ sent: ['add b in 1'], lost: [`add a: HTTP ${status}`], kept: [], recovered: [] });
    expect(clock.pauses).toEqual([]);
  });

  it('loses nothing when the sink is down for a minute, and sends the newest state of each object', async () => {
    recorder.answerWith(() => (clock.elapsedMs() < 60_000 ? 'cut' : 204));
    const events = lane();

    pushAll(events, 'add a', 'add b', 'add c');
    await until(() => reported.kept.length > 0, 'the first event kept');
    pushAll(events, 'update b', 'update b', 'delete c');
    await until(() => reported.sent.length === 3, 'all objects');

    expect(reported.sent.toSorted()).toEqual(['add a in 1', 'delete c in 1', 'update b in 1']);
    expect(reported.lost).toEqual([]);
    expect(reported.kept.filter((line) => line.endsWith(', first'))).toHaveLength(1);
    expect(reported.recovered).toEqual([2]);
    expect(events.waiting()).toBe(0);
    // A sink that is down is tried ever less often.
    expect(recorder.received.length).toBeLessThan(25);
  });

  it('keeps no more than one event per object while the sink is down', async () => {
    let open = false;
    recorder.answerWith(() => (open ? 204 : 503));
    const events = lane();
    pushAll(events, 'add 0');
    await until(() => reported.kept.length > 0, 'the outage');

    for (let round = 0; round < 100; round += 1) {
      pushAll(events, ...Array.from({ length: 10 }, (_, key) => `round-${round} ${key}`));
    }
    expect(events.waiting()).toBeLessThanOrEqual(11);
    open = true;

    await until(() => lastHeard().size === 10 && [...lastHeard().values()].every(isNewest), 'the newest states');
    expect(events.waiting()).toBe(0);
  });

  it('merges the events of one object when too many wait', async () => {
    const gate = Promise.withResolvers<number>();
    recorder.answerWith(() => gate.promise);
    const events = lane({ crowd: 5 });

    pushAll(events, ...Array.from({ length: 50 }, (_, index) => `v${index} ${index % 2}`));
    expect(events.waiting()).toBeLessThanOrEqual(7);
    gate.resolve(204);
    await until(() => lastHeard().get('0') === 'v48' && lastHeard().get('1') === 'v49', 'the newest states');

    expect(recorder.accepted.length).toBeLessThanOrEqual(8);
  });

  it('does not let one object that always fails block the others for long', async () => {
    const heard = new Map<string, number>();
    recorder.answerWith(({ says: event }) => {
      heard.set(event, clock.elapsedMs());
      return event.endsWith('bad') ? 503 : 204;
    });
    const events = lane();

    pushAll(events, 'add bad', 'add a', 'add b');
    await until(() => reported.sent.length === 2, 'the first others');
    pushAll(events, 'add c');
    await until(() => reported.sent.length === 3, 'a later one');

    expect(reported.sent).toEqual(['add a in 1', 'add b in 1', 'add c in 1']);
    // The adapter's pauses of 3.1 s, and on this clock the first rest, which begins when they end.
    expect(heard.get('add b')).toBeLessThanOrEqual(4_100);
    expect(reported.lost).toEqual([]);
  });

  it('ends in the newest state of every object, in order, whatever the sink answers', async () => {
    const outcome = fc.constantFrom<'accepted' | 'unavailable' | 'refused'>('accepted', 'unavailable', 'unavailable');
    const arrivals = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(3)), { minLength: 1, maxLength: 40 });

    await fc.assert(
      fc.asyncProperty(arrivals, fc.array(outcome, { maxLength: 60 }), async (pushes, outcomes) => {
        const answers = [...outcomes];
        const heard = new Map<string, number[]>();
        const events = lane(
          { crowd: 4 },
          {
            post: async ({ headers }) => {
              await Promise.resolve();
              const result = answers.shift() ?? 'accepted';
              if (result === 'accepted') {
                const key = headers['ce-name'] ?? '';
                heard.set(key, [...(heard.get(key) ?? []), Number(headers['ce-type'])]);
              }
              return { result, why: result };
            },
          },
        );
        const newest = new Map<string, number>();
        for (const [index, [key, ticks]] of pushes.entries()) {
          events.push({ key, change: String(index) });
          newest.set(key, index);
          for (let tick = 0; tick < ticks; tick += 1) {
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
        await until(() => [...newest].every(([key, index]) => heard.get(key)?.at(-1) === index), 'the newest states');

        for (const versions of heard.values()) {
          expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('finishes the active send when it stops, and sends nothing else', async () => {
    const gate = Promise.withResolvers<number>();
    recorder.answerWith(() => gate.promise);
    const ending = new AbortController();
    const events = createLane<Item>({
      sink,
      keyOf: ({ key }) => key,
      merge: (_older, newer) => newer,
      messageOf,
      report: report(),
      pacing: { retriesMs: [], rest: { firstMs: 1, longestMs: 1 }, crowd: 10, pause: clock.pause },
      stop: ending.signal,
      abort: stopping.signal,
    });

    pushAll(events, 'add a', 'add b');
    await until(() => recorder.received.length === 1, 'the first request');
    ending.abort();
    gate.resolve(204);
    await events.ended;

    expect(reported.sent).toEqual(['add a in 1']);
    expect(events.waiting()).toBe(1);
  });
});
