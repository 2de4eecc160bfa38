import http, { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { Failure } from '../base/failure.ts';
import { monotonicMs } from '../base/monotonic.ts';
import { wholeBody } from '../base/whole-body.ts';
import type { Access, Reach } from './access.ts';

/** One HTTP request to the API server. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, escaped. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** `skim` overwrites these bytes; `body` is not valid afterwards either. */
  readonly bytes: Buffer;
  /** The same as text, decoded on access. */
  readonly body: string;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/**
 * Keep-alive connections to one API server. The client package opens a connection for each call, at five times the
 * cost.
 */
export interface Transport {
  readonly send: (request: Request) => Promise<Answer>;
  /**
   * Resolves when the headers arrive, within the deadline. The body stays open until the signal or the server ends it.
   */
  readonly stream: (request: Request) => Promise<IncomingMessage>;
  /** The address of the API server. */
  readonly server: () => Promise<URL>;
  /** It sends nothing that would change the cluster. */
  readonly readOnly?: true;
  readonly close: () => void;
}

export interface TransportOptions {
  /** The longest duration of a request, including the connect. */
  readonly deadlineMs?: number;
}

/** Credentials are re-read after this time; the API server accepts a rotated token for much longer. */
const reachLastsMs = 30_000;

/** Below the API server's idle limit of 90 s, so that the server never closes a socket that we are about to use. */
const idleSocketMs = 60_000;

/** Limits the load on the API server when a function reads a thousand objects at once. */
const callsAtOnce = 64;

export function createTransport(access: Access, { deadlineMs = 15_000 }: TransportOptions = {}): Transport {
  const calls = createConnections(access, { maxSockets: callsAtOnce });
  // A watch occupies its connection while it lives, so watches do not share the limit of the calls.
  const streams = createConnections(access, {});

  async function open(connections: Connections, request: Request): Promise<IncomingMessage> {
    const connection = await connections.current();
    const first = await attempt(connection, request, deadlineMs);
    if (first.statusCode !== 401) {
      return first;
    }
    first.resume();
    connections.forget();
    return attempt(await connections.current(), request, deadlineMs);
  }

  return {
    send: async (request) => collect(await open(calls, request), request, deadlineMs),
    stream: (request) => open(streams, request),
    server: async () => (await calls.current()).server,
    close: () => {
      calls.close();
      streams.close();
    },
  };
}

interface Connection {
  readonly agent: http.Agent;
  readonly server: URL;
  readonly headers: OutgoingHttpHeaders;
}

interface Connections {
  readonly current: () => Promise<Connection>;
  readonly forget: () => void;
  readonly close: () => void;
}

/**
 * Keeps one agent while the TLS identity stays the same, and re-reads the headers every 30 s. After a change, the old
 * agent finishes its requests and its idle sockets expire.
 */
function createConnections(access: Access, limits: { readonly maxSockets?: number }): Connections {
  let agent: http.Agent | undefined;
  let identity = '';
  let cached: { readonly connection: Connection; readonly until: number } | undefined;
  let pending: Promise<Connection> | undefined;

  async function renew(): Promise<Connection> {
    const { server, tls, headers } = await find(access);
    const fresh = JSON.stringify([server.href, tls.ca, tls.cert, tls.key, tls.servername, tls.rejectUnauthorized]);
    if (agent === undefined || fresh !== identity) {
      identity = fresh;
      agent = createAgent(server, { ...tls, ...limits });
    }
    const connection = { agent, server, headers };
    cached = { connection, until: monotonicMs() + reachLastsMs };
    return connection;
  }

  return {
    current: () => {
      if (cached !== undefined && monotonicMs() < cached.until) {
        return Promise.resolve(cached.connection);
      }
      pending ??= renew().finally(() => (pending = undefined));
      return pending;
    },
    forget: () => (cached = undefined),
    close: () => agent?.destroy(),
  };
}

async function find(access: Access): Promise<Reach> {
  try {
    return await access();
  } catch (error) {
    throw new Failure('unavailable', 'could not find the cluster and its credentials', { cause: error });
  }
}

function createAgent(server: URL, options: https.AgentOptions): http.Agent {
  const kept = { ...options, keepAlive: true, scheduling: 'lifo', timeout: idleSocketMs } as const;
  return server.protocol === 'http:' ? new http.Agent(kept) : new https.Agent(kept);
}

/** The server may close an idle socket just as we reuse it. Nothing was read then, so one retry is safe. */
async function attempt(connection: Connection, request: Request, deadlineMs: number): Promise<IncomingMessage> {
  try {
    return await exchange(connection, request, deadlineMs);
  } catch (error) {
    if (error instanceof StaleSocket && request.method === 'GET') {
      return await exchange(connection, request, deadlineMs);
    }
    throw error;
  }
}

class StaleSocket extends Failure {}

function exchange(
  { agent, server, headers }: Connection,
  { method, path, accept = 'application/json', contentType, body, signal }: Request,
  deadlineMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (server.protocol === 'http:' ? http : https).request({
      agent,
      method,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? undefined : server.port,
      path: server.pathname === '/' ? path : server.pathname.replace(/\/$/, '') + path,
      headers: {
        ...headers,
        accept,
        'user-agent': 'kube-reflex',
        ...(body === undefined
          ? {}
          : { 'content-type': contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    const timer = setTimeout(() => request.destroy(late(method, path)), deadlineMs);
    request.once('response', (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(unreachable(error, request.reusedSocket, { method, path, ...(signal === undefined ? {} : { signal }) }));
    });
    request.end(body);
  });
}

/** The whole answer; throws if it does not arrive in time. */
export async function collect(response: IncomingMessage, request: Request, deadlineMs: number): Promise<Answer> {
  const { method, path, body } = request;
  const timer = setTimeout(() => response.destroy(late(method, path)), deadlineMs);
  try {
    const received = await wholeBody(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes: received,
      get body() {
        return received.toString();
      },
      sentBytes: body === undefined ? 0 : Buffer.byteLength(body),
      receivedBytes: received.length,
    };
  } catch (error) {
    throw unreachable(error as NodeJS.ErrnoException, false, request);
  } finally {
    clearTimeout(timer);
  }
}

function late(method: string, path: string): Failure {
  return new Failure('unavailable', `could not ${method} ${pathOnly(path)}: no answer in time`);
}

function unreachable(error: NodeJS.ErrnoException, reused: boolean, { method, path, signal }: Request): Failure {
  if (error instanceof Failure) {
    return error;
  }
  const stale = reused && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
  const reason = signal?.aborted === true ? 'the run was aborted' : (error.code ?? error.message);
  const message = `could not ${method} ${pathOnly(path)}: ${reason}`;
  return stale
    ? new StaleSocket('unavailable', message, { cause: error })
    : new Failure('unavailable', message, { cause: error });
}

function pathOnly(path: string): string {
  return path.split('?', 1)[0] ?? path;
}
