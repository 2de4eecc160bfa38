import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../../kube/model/wire.ts';

/** One request that a sink received. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The headers in short: `add a`, `update default/b`, `tick`. */
  readonly says: string;
  /** The data; in Resource mode, the whole object. */
  readonly object: KubeObject;
}

/** A status, a broken connection, or a status that comes later. */
export type Answer = number | 'cut' | Promise<number>;

/** A sink that records its requests. */
export interface Recorder {
  readonly url: URL;
  readonly received: readonly Received[];
  /** The requests that were answered with 2xx. */
  readonly accepted: readonly Received[];
  readonly connections: () => number;
  /** Sets the answers; by default all are 204. */
  answerWith: (answer: (event: Received) => Answer) => void;
  readonly close: () => Promise<void>;
}

export async function startRecorder(): Promise<Recorder> {
  const received: Received[] = [];
  const accepted: Received[] = [];
  let connections = 0;
  let answerTo: (event: Received) => Answer = acceptAll;

  async function record(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = (await request.toArray().catch(() => undefined)) as Buffer[] | undefined;
    if (chunks === undefined) {
      return; // the sender broke off, so nothing was received
    }
    const event = receivedOf(request.headers, Buffer.concat(chunks).toString());
    received.push(event);
    const answer = await answerTo(event);
    if (answer === 'cut') {
      request.socket.destroy();
      return;
    }
    if (answer < 300) {
      accepted.push(event);
    }
    response.writeHead(answer).end();
  }

  const server = createServer((request, response) => void record(request, response));
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/some-function`),
    received,
    accepted,
    connections: () => connections,
    answerWith: (answer) => (answerTo = answer),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The state of the cluster according to these events, in Resource mode: `namespace/name` → resourceVersion. */
export function lastKnown(events: readonly Received[]): Map<string, string> {
  const known = new Map<string, string>();
  for (const { says, object } of events) {
    const [change, key = ''] = says.split(' ');
    if (change === 'delete') {
      known.delete(key);
    } else {
      known.set(key, object.metadata?.resourceVersion ?? '');
    }
  }
  return known;
}

function acceptAll(): Answer {
  return 204;
}

function receivedOf(headers: IncomingHttpHeaders, body: string): Received {
  const place = [headers['ce-namespace'], headers['ce-name']].filter((part) => part !== '').join('/');
  const change = String(headers['ce-type']).split('.').at(-1) ?? '';
  return {
    headers,
    body,
    says: change === 'ping' ? 'tick' : `${change} ${place}`,
    object: (body === '' ? {} : JSON.parse(body)) as KubeObject,
  };
}
