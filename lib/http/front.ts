import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FrontOptions {
  readonly port: number;
  readonly host?: string | undefined;
  /** Makes the listener use TLS. Without a certificate, handshakes fail until `renew` is called. */
  readonly tls?: TlsMaterial | undefined;
  readonly answer: Answerer;
  /** Connections that are still open this long after `close`, for example with half a request, are cut. */
  readonly closingMs?: number;
}

export type TlsMaterial = Pick<ServerOptions, 'cert' | 'key'>;

/**
 * A listening port that closes without failing a request.
 *
 * ```ts
 * const front = await openFront({ port: 8080, answer: (request, response) => sendText(response, 200, 'ok') });
 * await front.close();
 * ```
 */
export interface Front {
  readonly url: URL;
  /** Uses this certificate for new connections; existing ones stay. Throws if the certificate is not usable. */
  readonly renew: (tls: TlsMaterial) => void;
  /** From now on every answer asks the client to open a new connection next time. */
  readonly wean: () => void;
  /** Stops listening, and resolves when the last answer is sent. */
  readonly close: () => Promise<void>;
}

/**
 * Go clients keep idle connections, even unused ones, for 90 s. Closing first would race with their next request. Node
 * counts the time until the first request as part of that request.
 */
const keepAliveMs = 120_000;

/** After the port closed, a connection without a request gets this time to send one. */
const silenceMs = 1_000;

/** Node can only cut a connection after its handshake, and closing waits for it. */
const handshakeMs = 10_000;

/** Passed again at each renewal, because `setSecureContext` resets omitted fields to Node's defaults. */
const tlsRules = { minVersion: 'TLSv1.3' } as const;

export async function openFront({ port, host, tls, answer, closingMs = 60_000 }: FrontOptions): Promise<Front> {
  const inFlight = new Set<ServerResponse>();
  // Node treats a connection that never sent anything as busy, and would wait for it.
  const silent = new Set<Socket>();
  let weaning = false;

  function serve(request: IncomingMessage, response: ServerResponse): void {
    silent.delete(request.socket);
    inFlight.add(response);
    response.on('close', forget);
    if (weaning) {
      response.shouldKeepAlive = false;
    }
    answer(request, response);
  }

  /** One shared listener, because this runs for every request. */
  function forget(this: ServerResponse): void {
    inFlight.delete(this);
  }

  function wean(): void {
    weaning = true;
    for (const response of inFlight) {
      response.shouldKeepAlive = false;
    }
  }

  function accept(socket: Socket): void {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
    if (!server.listening) {
      cutUnlessHeard(socket); // its handshake ended after the port closed
    }
  }

  /** Cuts a connection that does not send a request in time after the port closed. */
  function cutUnlessHeard(socket: Socket): void {
    const late = setTimeout(() => silent.has(socket) && socket.destroy(), silenceMs);
    socket.once('close', () => clearTimeout(late));
  }

  async function close(): Promise<void> {
    wean();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeIdleConnections();
    silent.forEach(cutUnlessHeard);
    const timer = setTimeout(() => server.closeAllConnections(), closingMs);
    await promise;
    clearTimeout(timer);
  }

  const handshakeTimeout = Math.min(handshakeMs, closingMs);
  const secure = tls === undefined ? undefined : https.createServer({ ...tlsRules, ...tls, handshakeTimeout }, serve);
  const server = secure ?? http.createServer(serve);
  server.on(tls === undefined ? 'connection' : 'secureConnection', accept);
  server.keepAliveTimeout = keepAliveMs;
  server.headersTimeout = keepAliveMs + 5_000;
  server.requestTimeout = 300_000;
  await listen(server, port, host);
  const address = server.address() as AddressInfo;
  const url = new URL(`${tls === undefined ? 'http' : 'https'}://${host ?? '127.0.0.1'}:${address.port}`);
  return {
    url,
    renew: (material) => secure?.setSecureContext({ ...tlsRules, ...material }),
    wean,
    close,
  };
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new Error(`port ${port} is taken`, { cause: error }) : error);
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
}

/** The path of a request without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
