import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { wholeBody } from '../base/whole-body.ts';
import { headers, idleMs, maxAnswerBytes, type Answer, type Line, type Post, type Sent } from './line.ts';

/** One connection for each concurrent request; connections are reused. */
export function http1Line(first: TLSSocket, dial: () => Promise<TLSSocket>): Line {
  const agent = new Connections(first, dial);
  return { isOver: () => false, send: (post) => send(agent, post) };
}

class Connections extends Agent {
  #ready: TLSSocket | undefined;
  readonly #dial: () => Promise<TLSSocket>;

  constructor(first: TLSSocket, dial: () => Promise<TLSSocket>) {
    super({ keepAlive: true, timeout: idleMs, scheduling: 'lifo' });
    this.#ready = first;
    this.#dial = dial;
    first.unref(); // the call that opened it may have been aborted
    first.setTimeout(idleMs, () => this.#ready?.destroy());
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): Duplex | undefined {
    const socket = this.#ready;
    this.#ready = undefined;
    if (socket !== undefined && !socket.destroyed) {
      return socket.setTimeout(0).ref();
    }
    this.#dial().then(
      (dialled) => callback(null, dialled),
      (error: unknown) => callback(error as Error, undefined as unknown as Duplex), // as the agent expects
    );
    return undefined;
  }
}

function send(agent: Agent, { host, path, body }: Post): Sent {
  const request = httpRequest({ agent, path, method: 'POST', headers: { host, ...headers } });
  return { answer: answerTo(request, body), abandon: () => request.destroy() };
}

async function answerTo(request: ClientRequest, body: string): Promise<Answer> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
  const text = (await wholeBody(message, maxAnswerBytes)).toString();
  return { status: message.statusCode ?? 0, contentType: message.headers['content-type'] ?? '', text };
}
