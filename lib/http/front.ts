import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FrontOptions {
  readonly port: number;
  readonly host?: string | undefined;
  /** The listener speaks TLS; without a certificate it accepts nobody until it is renewed. */
  readonly tls?: TlsMaterial | undefined;
  readonly answer: Answerer;
  /** What hangs longer than this after the port was closed, such as half a request, is cut. */
  readonly closingMs?: number;
}

export type TlsMaterial = Pick<ServerOptions, 'cert' | 'key'>;

/** A listening port that can be closed without failing a request. */
export interface Front {
  readonly url: URL;
  /** Shows this certificate to new connections; those that exist go on. Throws if it can't be used. */
  readonly renew: (tls: TlsMaterial) => void;
  /** From now on every answer asks its sender to open a new connection next time. */
  readonly wean: () => void;
  /** Stops listening and resolves when the last answer is out. */
  readonly close: () => Promise<void>;
}

/**
 * Go clients keep idle connections for 90 s, also such as they opened and then did not need; whoever closes first must
 * not be us, or a request dies on the way. Node counts the time until a first request as that of the request.
 */
const keepAliveMs = 120_000;

/** A connection that was made just before the port closed has so long to bring its request. */
const silenceMs = 1_000;

/** Until its handshake is done a connection belongs to nobody who could cut it, and closing waits for it. */
const handshakeMs = 10_000;

/** Said again at each renewal: what is left out there falls back to Node's own defaults. */
const tlsRules = { minVersion: 'TLSv1.3' } as const;

export async function openFront({ port, host, tls, answer, closingMs = 60_000 }: FrontOptions): Promise<Front> {
  const inFlight = new Set<ServerResponse>();
  // Node counts a connection that never said anything as busy, and would wait for it.
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

  /** One listener for all: this is on the path of every request. */
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
      cutUnlessHeard(socket); // its handshake took until now
    }
  }

  /** Has so long to bring a request, now that the port is closed. */
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
