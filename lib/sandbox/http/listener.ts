import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificates } from './certificates.ts';

/** A server that listens on this machine alone. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so that a client never writes into a closing one. */
const keepAliveMs = 120_000;

export function listenTls(port: number, certificates: Certificates, handler: RequestListener): Promise<Listener> {
  const { certificate, key } = certificates;
  return listen(createHttpsServer({ cert: certificate, key }, handler), port, 'https');
}

export function listenPlain(port: number, handler: RequestListener): Promise<Listener> {
  return listen(createHttpServer(handler), port, 'http');
}

async function listen(server: Server, port: number, scheme: 'http' | 'https'): Promise<Listener> {
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => resolve(undefined));
  await promise;
  server.off('error', reject);
  const { port: bound } = server.address() as AddressInfo;
  return { url: `${scheme}://127.0.0.1:${bound}`, port: bound, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.close(() => resolve(undefined));
  server.closeAllConnections();
  await promise;
}
