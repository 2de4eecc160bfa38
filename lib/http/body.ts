import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../base/failure.ts';
import { joined } from '../base/whole-body.ts';

/** A body beyond the limit. Events answer 400 to it, since a source would retry 413; admission answers 413. */
export class TooLarge extends Failure {
  constructor(limit: number) {
    super('malformed', `body is larger than ${limit} bytes`);
    this.name = 'TooLarge';
  }
}

/** Reads request bodies, each up to a limit, all together up to a budget. */
export interface BodyReader {
  /** The body counts against the budget until the answer is out: what was made of it lives as long. */
  readonly receive: (request: IncomingMessage, response: ServerResponse, receiver: Receiver) => void;
  /** The same as a promise. */
  readonly read: (request: IncomingMessage, response: ServerResponse, limit: number) => Promise<Buffer>;
}

/** Exactly one of the two is called. */
export interface Receiver {
  readonly limit: number;
  readonly onBody: (body: Buffer) => void;
  readonly onFailure: (failure: Failure) => void;
}

/** What is over the limit is still received, so that the sender gets to read the answer, but only this much of it. */
const patienceBytes = 64 * 1024 * 1024;

/** A part of the budget is for bodies up to this size only, so that a few huge ones don't shut out all others. */
const smallBytes = 256 * 1024;
const partForSmall = 1 / 8;

/**
 * @param budget bytes of bodies that may be in memory at once; a request that would exceed it is turned away.
 * @param arrivalMs a body that takes longer than this to arrive is cut off, and its room given to others
 */
export function createBodyReader(budget: number, arrivalMs = 15_000): BodyReader {
  let held = 0;
  const large: (() => void)[] = [];

  /** What is made of a large body takes long: between two of them everybody else has a turn. */
  function takeTurns(work: () => void): void {
    large.push(work);
    if (large.length === 1) {
      setImmediate(nextTurn);
    }
  }

  function nextTurn(): void {
    try {
      large[0]?.();
    } finally {
      large.shift();
      if (large.length > 0) {
        setImmediate(nextTurn);
      }
    }
  }

  function receive(request: IncomingMessage, response: ServerResponse, receiver: Receiver): void {
    const { limit, onBody, onFailure } = receiver;
    const announced = Number(request.headers['content-length'] ?? 0);
    const chunks: Buffer[] = [];
    let size = 0;
    let reserved = 0;
    let over: Failure | undefined;
    let late: NodeJS.Timeout | undefined;
    let failed = false;

    /** Room for what has arrived, or why there is none. What is only announced takes no room from others. */
    function reserve(): Failure | undefined {
      const expected = Math.max(size, announced);
      const room = expected > smallBytes ? budget * (1 - partForSmall) : budget;
      if (expected > limit) {
        return new TooLarge(limit);
      }
      if (held - reserved + size > room) {
        return new Failure('throttled', 'too many large requests at once', { retryAfter: 1 });
      }
      held += size - reserved;
      reserved = size;
      return undefined;
    }

    function release(): void {
      held -= reserved;
      reserved = 0;
      chunks.length = 0;
    }

    function fail(failure: Failure): void {
      clearTimeout(late);
      if (!failed) {
        failed = true;
        onFailure(failure);
      }
    }

    /** Nobody gets to read an answer, but that it happened is told. */
    function cut(failure: Failure): void {
      request.destroy();
      fail(failure);
    }

    /** Who went away while waiting for a turn took the body along. */
    function handOver(): void {
      if (response.destroyed) {
        fail(new Failure('malformed', 'the sender has gone'));
      } else {
        onBody(joined(chunks));
      }
    }

    function settle(): void {
      clearTimeout(late);
      if (over !== undefined) {
        fail(over);
      } else if (size > smallBytes) {
        takeTurns(handOver);
      } else {
        onBody(joined(chunks));
      }
    }

    response.on('close', () => {
      clearTimeout(late);
      release();
    });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      over ??= reserve();
      // Most bodies are there at once and need no timer.
      if (size !== announced) {
        late ??= setTimeout(() => cut(over ?? new Failure('malformed', 'body took too long to arrive')), arrivalMs);
      }
      if (over === undefined) {
        chunks.push(chunk);
      } else if (size > patienceBytes) {
        cut(over);
      } else {
        release();
      }
    });
    request.on('end', settle);
    request.on('error', (error) => fail(over ?? new Failure('malformed', 'body ended early', { cause: error })));
  }

  return {
    receive,
    read: (request, response, limit) =>
      new Promise((resolve, reject) => receive(request, response, { limit, onBody: resolve, onFailure: reject })),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body as JSON; throws `malformed` with what is wrong. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw new Failure('malformed', 'body is not JSON', { cause: error });
  }
}
