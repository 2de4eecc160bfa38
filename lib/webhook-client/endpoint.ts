import { createDialler, type WebhookTarget } from './dial.ts';
import { http1Line } from './http1.ts';
import { http2Line } from './http2.ts';
import { withLimit, type CallOptions, type Limit } from './limit.ts';
import { Unprocessed, type Answer, type Line, type Post } from './line.ts';

/** A webhook, and the connections to it. */
export interface Endpoint {
  readonly post: (post: Post, options: CallOptions) => Promise<Answer>;
  readonly close: () => void;
}

/** The webhook chooses: HTTP/2, which takes less than half of the CPU, or what every server speaks. */
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

  /** Whoever comes while the first connection is opened waits for it: only then it is known how many are needed. */
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

  /** What the webhook has not looked at is sent once more. Anything else is for the caller to repeat, or not. */
  async function sendUntilSeen(post: Post, limit: Limit): Promise<Answer> {
    try {
      return await send(post, limit);
    } catch (error) {
      if (error instanceof Unprocessed) {
        limit.check(); // nobody dials for a call that was given up
        return send(post, limit);
      }
      throw error;
    }
  }

  return { post: (post, options) => withLimit(options, (limit) => sendUntilSeen(post, limit)), close };
}
