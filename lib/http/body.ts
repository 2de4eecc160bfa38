import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../function/failure.ts';

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
  readonly read: (request: IncomingMessage, response: ServerResponse, limit: number) => Promise<Buffer>;
}

/** What is over the limit is still received, so that the sender gets to read the answer, but only this much of it. */
const patienceBytes = 64 * 1024 * 1024;

/** @param budget bytes of bodies that may be in memory at once; a request that would exceed it is turned away. */
export function createBodyReader(budget: number): BodyReader {
  let held = 0;

  async function read(request: IncomingMessage, response: ServerResponse, limit: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    let over: Failure | undefined;
    let own = 0;
    response.once('close', () => (held -= own));
    function excess(ownSize: number, together: number): Failure | undefined {
      return ownSize > limit ? new TooLarge(limit) : together > budget ? overloaded() : undefined;
    }
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        size += chunk.length;
        over ??= excess(size, held + chunk.length);
        if (over === undefined) {
          chunks.push(chunk);
          own += chunk.length;
          held += chunk.length;
        } else if (size > patienceBytes) {
          request.destroy();
        }
      }
    } catch (error) {
      throw over ?? new Failure('malformed', 'body ended early', { cause: error });
    }
    if (over !== undefined) {
      throw over;
    }
    return joined(chunks);
  }

  return { read };
}

/** Most bodies are one chunk, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

function overloaded(): Failure {
  return new Failure('throttled', 'too many large requests at once', { retryAfter: 1 });
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
