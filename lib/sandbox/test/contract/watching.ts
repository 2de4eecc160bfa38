import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Body, Call, Client } from './client.ts';

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

/** An open watch whose events are taken one by one. */
export interface Watch {
  /** HTTP status of the answer. */
  readonly code: number;
  /** The next event; `undefined` when the server ended the stream. */
  next(): Promise<WatchEvent | undefined>;
  /** The next event that is not a bookmark. */
  change(): Promise<WatchEvent | undefined>;
  close(): void;
}

/** Opens `GET path?watch=true&…`; the answer to a refused watch is a single event with the body as its object. */
export function openWatch(client: Client, path: string, query: Call['query'] = {}): Promise<Watch> {
  return new Promise((resolve, reject) => {
    const options = client.options('GET', path, { query: { watch: true, ...query } });
    const outgoing = request(options, (incoming) => {
      const queue: WatchEvent[] = [];
      const waiting: ((event: WatchEvent | undefined) => void)[] = [];
      let ended = false;
      let rest = '';
      function push(line: string): void {
        const value = JSON.parse(line) as WatchEvent & Body;
        const event = value.kind === 'Status' ? { type: 'ERROR', object: value } : value;
        const taker = waiting.shift();
        if (taker === undefined) {
          queue.push(event);
        } else {
          taker(event);
        }
      }
      function end(): void {
        ended = true;
        for (const taker of waiting.splice(0)) {
          taker(undefined);
        }
      }
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines.filter((text) => text.startsWith('{"'))) {
          push(line);
        }
      });
      incoming.on('error', end);
      incoming.on('end', end);
      function next(): Promise<WatchEvent | undefined> {
        const event = queue.shift();
        return event !== undefined || ended ? Promise.resolve(event) : new Promise((take) => waiting.push(take));
      }
      async function change(): Promise<WatchEvent | undefined> {
        for (;;) {
          const event = await next();
          if (event?.type !== 'BOOKMARK') {
            return event;
          }
        }
      }
      resolve({ code: incoming.statusCode ?? 0, next, change, close: () => outgoing.destroy() });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const patienceSeconds = 120;

/** For what cannot be watched: tries until the outcome will do. */
export async function eventually<T>(attempt: () => Promise<T>, willDo: (outcome: T) => boolean): Promise<T> {
  const deadline = performance.now() + patienceSeconds * 1000;
  for (;;) {
    const outcome = await attempt();
    if (willDo(outcome)) {
      return outcome;
    }
    if (performance.now() > deadline) {
      throw new Error(`not so within ${String(patienceSeconds)} s: ${JSON.stringify(outcome)}`);
    }
    await pause(10);
  }
}

/** Waits by watching: resolves with the first state of the object that satisfies the condition. */
export async function until(
  client: Client,
  collection: string,
  name: string,
  condition: (object: Body) => boolean,
): Promise<Body> {
  const watch = await openWatch(client, collection, {
    fieldSelector: `metadata.name=${name}`,
    timeoutSeconds: patienceSeconds,
  });
  try {
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      if (event.type !== 'DELETED' && event.object.kind !== 'Status' && condition(event.object)) {
        return event.object;
      }
    }
    throw new Error(`${collection}/${name} was not so within ${String(patienceSeconds)} s`);
  } finally {
    watch.close();
  }
}

/** Waits until the object is gone. */
export async function untilGone(client: Client, collection: string, name: string): Promise<void> {
  const list = await client.call('GET', collection, { query: { fieldSelector: `metadata.name=${name}` } });
  if (list.body.items?.length === 0) {
    return;
  }
  const resourceVersion = list.body.metadata?.resourceVersion ?? '';
  const watch = await openWatch(client, collection, {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: patienceSeconds,
  });
  try {
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      if (event.type === 'DELETED') {
        return;
      }
    }
    throw new Error(`${collection}/${name} was still there after ${String(patienceSeconds)} s`);
  } finally {
    watch.close();
  }
}
