import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { wholeBody } from '../base/whole-body.ts';
import { headers, idleMs, maxAnswerBytes, Unprocessed, type Answer, type Line, type Post, type Sent } from './line.ts';

/** Room for concurrent requests and answers; beyond it Node refuses answers. */
const mostMegabytes = 1024;

/** Flow-control windows for one request and for all. With the standard's 64 KiB, answers wait for each other. */
const streamWindow = 2 ** 20;
const sessionWindow = 2 ** 24;

/** One connection for all requests. */
export async function http2Line(socket: TLSSocket, host: string): Promise<Line> {
  const { connect } = await import('node:http2'); // loaded only if a webhook speaks HTTP/2
  const session = connect(`https://${host}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindow },
    maxSessionMemory: mostMegabytes,
  });
  session.once('connect', () => session.setLocalWindowSize(sessionWindow));
  session.on('error', () => undefined); // its requests report the error
  session.setTimeout(idleMs, () => session.close());
  session.unref(); // a pending call keeps the process alive by its timer
  return { isOver: () => isOver(session), send: (post) => send(session, post) };
}

function isOver(session: ClientHttp2Session): boolean {
  return session.closed || session.destroyed;
}

function send(session: ClientHttp2Session, { host, path, body }: Post): Sent {
  if (isOver(session)) {
    throw new Unprocessed('the connection was closed');
  }
  const stream = session.request({
    ':method': 'POST',
    ':authority': host,
    ':path': path,
    ...headers,
    'content-length': Buffer.byteLength(body),
  });
  stream.end(body);
  return {
    answer: answerOf(stream),
    abandon: () => {
      session.close();
      stream.close(cancelled);
    },
  };
}

/** Codes of RFC 9113 §7. */
const refused = 7;
const cancelled = 8;

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let head: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  stream.once('response', (received) => {
    head = received;
  });
  let text: string;
  try {
    text = (await wholeBody(stream, maxAnswerBytes)).toString();
  } catch (error) {
    throw stream.id === undefined || stream.rstCode === refused
      ? new Unprocessed('the webhook refused the request without processing it', { cause: error })
      : (stream.errored ?? new Error('EOF', { cause: error }));
  }
  if (stream.rstCode !== 0 || head[':status'] === undefined) {
    throw new Error('EOF'); // a lost connection looks like the end of the answer
  }
  return { status: head[':status'], contentType: head['content-type'] ?? '', text };
}
