import type { IncomingMessage, ServerResponse } from 'node:http';
import { asFailure, Failure, handling } from '../base/failure.ts';
import { sendFailure, sendNothing, sendText } from './answer.ts';
import type { BodyReader } from './body.ts';
import { decodeEvents } from './cloud-event.ts';
import type { Answerer } from './front.ts';
import { isCronConnector, signalOf, type Signal } from './events.ts';

export interface ReceiveOptions {
  readonly bodies: BodyReader;
  /** Handles one event; rejects with a Failure. */
  readonly handle: (signal: Signal, about: About) => Promise<void>;
  /** Called for each request that is not a valid event. */
  readonly onMalformed: (failure: Failure) => void;
}

/** Fields that identify an event in the log. */
export interface About {
  readonly event?: string;
  readonly type: string;
}

/** Larger than any object that the API server stores. */
const eventLimit = 3 * 1024 * 1024;

/** A batch is handled all at once; no known sender comes near this size. */
const largestBatch = 500;

/**
 * Answers `POST /` with events.
 *
 * | outcome                          | status                                |
 * | -------------------------------- | ------------------------------------- |
 * | all events handled               | 204                                   |
 * | an event failed, or is not valid | that of the failure, see `handling`   |
 * | several events of a batch failed | that of the first that can be retried |
 */
export function answerEvents({ bodies, handle, onMalformed }: ReceiveOptions): Answerer {
  /** Handles the valid events of a batch even if others are malformed. */
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivals = await read(request, response, bodies);
    const ends = await Promise.allSettled(
      arrivals.map(async (arrival) => {
        const { signal, about } = arrival();
        await handle(signal, about).catch((error: unknown) => Promise.reject(new Handled(asFailure(error))));
      }),
    );
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [failureOf(end.reason)] : []));
    // A batch is one delivery: if one of its events must be retried, the whole batch is.
    const worst = failures.find(({ kind }) => handling[kind].retry) ?? failures[0];
    if (worst !== undefined) {
      throw new Handled(worst);
    }
  }

  /** Failures from `handle` are already logged; anything else means that the request was not a valid event. */
  function failureOf(error: unknown): Failure {
    if (error instanceof Handled) {
      return error.failure;
    }
    const failure = asFailure(error);
    onMalformed(failure);
    return failure;
  }

  return (request, response) => {
    receive(request, response).then(
      () => sendNothing(response),
      (error: unknown) => sendFailure(response, failureOf(error)),
    );
  };
}

class Handled extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

type Arrival = () => { readonly signal: Signal; readonly about: About };

async function read(
  request: IncomingMessage,
  response: ServerResponse,
  bodies: BodyReader,
): Promise<readonly Arrival[]> {
  const body = await bodies.read(request, response, eventLimit);
  if (body.length === 0 && isCronConnector(request.headers)) {
    return [() => ({ signal: { what: 'tick' }, about: { type: 'cron-connector' } })];
  }
  const events = decodeEvents(request.headers, body);
  if (events.length > largestBatch) {
    throw new Failure('malformed', `a batch may hold at most ${largestBatch} events`);
  }
  return events.map((decode) => () => {
    const event = decode();
    return { signal: signalOf(event), about: { event: event.id, type: event.type } };
  });
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
    sendText(response, 405, 'send events with POST');
  }
}
