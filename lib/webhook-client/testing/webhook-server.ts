import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { wholeBody } from '../../base/whole-body.ts';

export type Protocol = 'http/1.1' | 'h2';

/** A complete request, in any HTTP version. */
export interface Arrived {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The same object for all requests of a connection. */
  readonly connection: object;
  readonly reply: (status: number, text: string, contentType?: string) => void;
  /** Starts an answer and never ends it. */
  readonly begin: (text: string) => void;
  /** Closes the connection instead of answering. */
  readonly cut: () => void;
  /** Ends the stream without an answer and keeps the connection; HTTP/2 only. */
  readonly leave: () => void;
  /** Reports that the request was not processed; HTTP/2 only. */
  readonly refuse: () => void;
  /** Accepts no more requests on the connection, but answers active ones; HTTP/2 only. */
  readonly goAway: () => void;
}

export interface ServerOptions {
  readonly certificate: string;
  readonly key: string;
  /** `h2` for clients that support it, like every Go server; `http/1.1` for all. */
  readonly protocol: Protocol;
  /** Limit of concurrent streams of one HTTP/2 connection. */
  readonly maxConcurrent?: number;
}

export interface WebhookServer {
  readonly port: number;
  /** The number of connections so far. */
  readonly handshakes: () => number;
  /** The number of open connections. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

const keepAliveTimeout = 100_000; // longer than any test

/** A TLS server on this machine, like a webhook. */
export async function serveWebhook(
  { certificate, key, protocol, maxConcurrent = 250 }: ServerOptions,
  serve: (arrived: Arrived) => unknown,
): Promise<WebhookServer> {
  const sockets = new Set<TLSSocket>();
  let handshakes = 0;

  function handle(request: Request, response: Response): void {
    wholeBody(request).then(
      (body) => serve(arrivedIn(request, response, body.toString())),
      () => undefined, // the client has closed the connection
    );
  }

  const identity = { cert: certificate, key };
  const server =
    protocol === 'h2'
      ? createSecureServer({ ...identity, allowHTTP1: true, settings: { maxConcurrentStreams: maxConcurrent } }, handle)
      : createServer({ ...identity, keepAliveTimeout }, handle);
  server.on('secureConnection', (socket: TLSSocket) => {
    handshakes += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    handshakes: () => handshakes,
    open: () => sockets.size,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      }),
  };
}

const refused = 7; // RFC 9113 §7

function arrivedIn(request: Request, response: Response, body: string): Arrived {
  const stream = 'stream' in request ? request.stream : undefined;
  const answer = response as ServerResponse; // the methods used here are the same in both
  const connection = stream?.session ?? request.socket;
  return {
    path: request.url ?? '',
    headers: { ...request.headers, host: request.headers.host ?? request.headers[':authority'] },
    body,
    connection,
    reply: (status, text, contentType = 'application/json') => {
      answer.writeHead(status, { 'content-type': contentType }).end(text);
    },
    begin: (text) => {
      answer.writeHead(200).write(text);
    },
    cut: () => connection.destroy(),
    leave: () => stream?.close(),
    refuse: () => stream?.close(refused),
    goAway: () => stream?.session?.close(),
  };
}
