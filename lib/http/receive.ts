import type { IncomingMessage, ServerResponse } from 'node:http';
import { asFailure, handling, type Failure } from '../function/failure.ts';
import { sendFailure, sendNothing, sendText } from './answer.ts';
import type { BodyReader } from './body.ts';
import { decodeEvents } from './cloud-event.ts';
import { isCronConnector, signalOf, type Signal } from './events.ts';

export interface ReceiveOptions {
  readonly bodies: BodyReader;
  /** Does what one event asks for; rejects with a Failure. */
  readonly handle: (signal: Signal, about: About) => Promise<void>;
  /** Told of what was no event at all. */
  readonly onMalformed: (failure: Failure) => void;
}

/** What the log says of an event. */
export interface About {
  readonly event?: string;
  readonly type: string;
}

/** Larger than any object that the API server stores. */
const eventLimit = 3 * 1024 * 1024;

/** `POST /`: events in, 204 or the status of what went wrong out. */
export function answerEvents({
  bodies,
  handle,
  onMalformed,
}: ReceiveOptions): (request: IncomingMessage, response: ServerResponse) => void {
  async function receive(request: IncomingMessage): Promise<void> {
    const events = await read(request, bodies).catch((error: unknown) => {
      const failure = asFailure(error);
      onMalformed(failure);
      throw failure;
    });
    const ends = await Promise.allSettled(events.map(({ signal, about }) => handle(signal, about)));
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [asFailure(end.reason)] : []));
    // A batch is one delivery: if any of it must be sent again, all of it is.
    const worst = failures.find(({ kind }) => handling[kind].retry) ?? failures[0];
    if (worst !== undefined) {
      throw worst;
    }
  }

  return (request, response) => {
    receive(request).then(
      () => sendNothing(response),
      (error: unknown) => sendFailure(response, asFailure(error)),
    );
  };
}

async function read(
  request: IncomingMessage,
  bodies: BodyReader,
): Promise<readonly { signal: Signal; about: About }[]> {
  const body = await bodies.read(request, eventLimit);
  if (body.length === 0 && isCronConnector(request.headers)) {
    return [{ signal: { what: 'tick' }, about: { type: 'cron-connector' } }];
  }
  return decodeEvents(request.headers, body).map((event) => ({
    signal: signalOf(event),
    about: { event: event.id, type: event.type },
  }));
}

/** `/` for everything but events: GET names the function; OPTIONS is the CloudEvents webhook handshake. */
export function answerRoot({ method, headers }: IncomingMessage, response: ServerResponse, text: string): void {
  if (method === 'GET' || method === 'HEAD') {
    sendText(response, 200, text);
  } else if (method === 'OPTIONS') {
    response
      .writeHead(200, {
        'webhook-allowed-origin': headers['webhook-request-origin'] ?? '*',
        'webhook-allowed-rate': '*',
      })
      .end();
  } else {
    response.setHeader('allow', 'GET, HEAD, OPTIONS, POST');
    sendText(response, 405, 'send events by POST');
  }
}
