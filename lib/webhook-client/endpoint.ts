import { createDialler, type WebhookTarget } from './dial.ts';
import { http1Line } from './http1.ts';
import { http2Line } from './http2.ts';
import { withLimit, type CallOptions, type Limit } from './limit.ts';
import { Unprocessed, type Answer, type Line, type Post } from './line.ts';

/** A webhook with its connections. */
export interface Endpoint {
  readonly post: (post: Post, options: CallOptions) => Promise<Answer>;
  readonly close: () => void;
}

/** The webhook chooses the protocol: HTTP/2, which needs less than half the CPU, or HTTP/1.1. */
export function createEndpoint(target: WebhookTarget, connectMs: number): Endpoint {
  const { dial, close } = createDialler(target, connectMs);
  let current: Line | undefined;
  let opening: Promise<Line> | undefined;

  async function open(host: string): Promise<Line> {
    const socket = await dial(['h2', 'http/1.1']);
    current =
      socket.alpnProtocol === 'h2' ? await http2Line(socket, host) : http1Line(socket, () => dial(['http/1.1']));
    return current;
  }

  /** Calls wait for the first connection, because its protocol decides how many connections are needed. */
  function line(host: string): Line | Promise<Line> {
    if (current !== undefined && !current.isOver()) {
      return current;
    }
    opening ??= open(host).finally(() => (opening = undefined));
    return opening;
  }

  async function send(post: Post, limit: Limit): Promise<Answer> {
    const way = await line(post.host);
    limit.check();
    const { answer, abandon } = way.send(post);
    limit.ends(abandon);
    return answer;
  }

  /** Sends a request again if the webhook did not process it. Other failures go to the caller. */
  async function sendUntilSeen(post: Post, limit: Limit): Promise<Answer> {
    try {
      return await send(post, limit);
    } catch (error) {
      if (error instanceof Unprocessed) {
        limit.check(); // do not connect for an aborted call
        return send(post, limit);
      }
      throw error;
    }
  }

  return { post: (post, options) => withLimit(options, (limit) => sendUntilSeen(post, limit)), close };
}
