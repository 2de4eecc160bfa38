import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../base/failure.ts';
import { joined } from '../base/whole-body.ts';

/** The body is larger than the limit. Events answer 400, because sources retry 413; admission answers 413. */
export class TooLarge extends Failure {
  constructor(limit: number) {
    super('malformed', `body is larger than ${limit} bytes`);
    this.name = 'TooLarge';
  }
}

/**
 * Reads request bodies with a limit for each and a budget for all.
 *
 * ```ts
 * const bodies = createBodyReader(32 * 1024 * 1024);
 * const body = await bodies.read(request, response, 3 * 1024 * 1024);
 * ```
 *
 * | situation               | rejects with |
 * | ----------------------- | ------------ |
 * | larger than the limit   | `malformed`  |
 * | the budget is used up   | `throttled`  |
 * | incomplete, or too slow | `malformed`  |
 */
export interface BodyReader {
  /**
   * Passes the body to the receiver. It counts against the budget until the answer is sent, because its parsed form
   * lives that long.
   */
  readonly receive: (request: IncomingMessage, response: ServerResponse, receiver: Receiver) => void;
  /** Like `receive`, as a promise. */
  readonly read: (request: IncomingMessage, response: ServerResponse, limit: number) => Promise<Buffer>;
}

/** Exactly one of the two is called, once. */
export interface Receiver {
  readonly limit: number;
  readonly onBody: (body: Buffer) => void;
  readonly onFailure: (failure: Failure) => void;
}

/** The rest of a body over the limit is still read, so that the sender reads the answer, but no more than this. */
const patienceBytes = 64 * 1024 * 1024;

/** A part of the budget is reserved for bodies up to this size, so that a few huge ones don't block all others. */
const smallBytes = 256 * 1024;
const partForSmall = 1 / 8;

/**
 * @param budget bytes of bodies in memory at once; a request that would exceed it is refused. @param arrivalMs a body
 * that takes longer to arrive is cut off, and frees its part of the budget
 */
export function createBodyReader(budget: number, arrivalMs = 15_000): BodyReader {
  const shared = { room: { budget, held: 0 }, takeTurn: createTurns(), arrivalMs };

  function receive(request: IncomingMessage, response: ServerResponse, receiver: Receiver): void {
    const arrival = new Arrival(request, response, receiver, shared);
    response.on('close', () => arrival.end());
    request.on('data', (chunk: Buffer) => arrival.take(chunk));
    request.on('end', () => arrival.settle());
    request.on('error', (error) => arrival.breakOff(error));
  }

  return {
    receive,
    read: (request, response, limit) =>
      new Promise((resolve, reject) => receive(request, response, { limit, onBody: resolve, onFailure: reject })),
  };
}

/** State that the bodies of one reader share. */
interface Shared {
  readonly room: Room;
  readonly takeTurn: (work: () => void) => void;
  readonly arrivalMs: number;
}

interface Room {
  readonly budget: number;
  /** Bytes of bodies in memory. */
  held: number;
}

/** Handles large bodies in separate turns of the event loop, so that other requests run between two of them. */
function createTurns(): (work: () => void) => void {
  const waiting: (() => void)[] = [];

  function next(): void {
    try {
      waiting[0]?.();
    } finally {
      waiting.shift();
      if (waiting.length > 0) {
        setImmediate(next);
      }
    }
  }

  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) {
      setImmediate(next);
    }
  };
}

/** One body, from its first chunk until the answer is sent. */
class Arrival {
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly receiver: Receiver;
  private readonly shared: Shared;
  private readonly announced: number;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private reserved = 0;
  private over: Failure | undefined;
  private late: NodeJS.Timeout | undefined;
  private failed = false;

  constructor(request: IncomingMessage, response: ServerResponse, receiver: Receiver, shared: Shared) {
    this.request = request;
    this.response = response;
    this.receiver = receiver;
    this.shared = shared;
    this.announced = Number(request.headers['content-length'] ?? 0);
  }

  take(chunk: Buffer): void {
    this.size += chunk.length;
    this.over ??= this.reserve();
    // Most bodies are complete at once and need no timer.
    if (this.size !== this.announced) {
      this.late ??= setTimeout(() => this.expire(), this.shared.arrivalMs);
    }
    if (this.over === undefined) {
      this.chunks.push(chunk);
    } else if (this.size > patienceBytes) {
      this.cut(this.over);
    } else {
      this.release();
    }
  }

  settle(): void {
    clearTimeout(this.late);
    if (this.over !== undefined) {
      this.fail(this.over);
    } else if (this.size > smallBytes) {
      this.shared.takeTurn(() => this.handOver());
    } else {
      this.receiver.onBody(joined(this.chunks));
    }
  }

  breakOff(error: Error): void {
    this.fail(this.over ?? new Failure('malformed', 'body ended early', { cause: error }));
  }

  /** The answer is sent, or the connection is gone. */
  end(): void {
    clearTimeout(this.late);
    this.release();
  }

  /** Reserves budget for the received bytes, or returns why it cannot. Announced bytes reserve nothing. */
  private reserve(): Failure | undefined {
    const { room } = this.shared;
    const expected = Math.max(this.size, this.announced);
    const budget = expected > smallBytes ? room.budget * (1 - partForSmall) : room.budget;
    if (expected > this.receiver.limit) {
      return new TooLarge(this.receiver.limit);
    }
    if (room.held - this.reserved + this.size > budget) {
      return new Failure('throttled', 'too many large requests at once', { retryAfter: 1 });
    }
    room.held += this.size - this.reserved;
    this.reserved = this.size;
    return undefined;
  }

  private release(): void {
    this.shared.room.held -= this.reserved;
    this.reserved = 0;
    this.chunks.length = 0;
  }

  /** If the sender left while its body waited for a turn, the body is gone. */
  private handOver(): void {
    if (this.response.destroyed) {
      this.fail(new Failure('malformed', 'the sender closed the connection'));
    } else {
      this.receiver.onBody(joined(this.chunks));
    }
  }

  private expire(): void {
    this.cut(this.over ?? new Failure('malformed', 'body took too long to arrive'));
  }

  /** No answer can be sent, but the failure is reported. */
  private cut(failure: Failure): void {
    this.request.destroy();
    this.fail(failure);
  }

  private fail(failure: Failure): void {
    clearTimeout(this.late);
    if (!this.failed) {
      this.failed = true;
      this.receiver.onFailure(failure);
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body as JSON; throws `malformed` if it is not. */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw new Failure('malformed', 'body is not JSON', { cause: error });
  }
}
