import { once } from 'node:events';
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { pino, type Logger } from 'pino';
import type { Definition } from '../../lib/function/definition.ts';
import type { Access } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { serve, type Running } from '../../lib/runtime/main.ts';

export interface AppOptions {
  readonly access: Access;
  readonly environment?: Readonly<Record<string, string>>;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly observe?: (call: Call) => void;
  readonly log?: Logger;
  readonly now?: () => Date;
  readonly machineNow?: () => Date;
}

/** Serves a function on a free port, as in production. */
export function startApp(definition: Definition, { environment = {}, log, ...options }: AppOptions): Promise<Running> {
  return serve({
    ...options,
    definitions: [definition],
    environment: { PORT: '0', TLS_PORT: '0', POD_NAMESPACE: 'default', ...environment },
    host: '127.0.0.1',
    log: log ?? pino({ level: 'silent' }),
  });
}

/** For functions that are not expected to call the cluster. */
export function noCluster(): Promise<never> {
  return Promise.reject(new Error('there is no cluster'));
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: http.Agent;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends one request exactly as given, without normalising it. */
export async function send(
  url: URL,
  { method = 'POST', path = '/', headers = {}, body, agent }: Sent,
): Promise<Received> {
  // For a GET or DELETE, node sends a body only with a length.
  const framed = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
  const options = { method, path, headers: framed, ...(agent === undefined ? {} : { agent }) };
  const request = (url.protocol === 'https:' ? https : http).request(url, options);
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  request.end(body);
  const [response] = await answered;
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

export interface Event {
  readonly type: string;
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly data?: unknown;
}

/** An event in binary mode, with the headers that ApiServerSource sends. */
export function binaryEvent({ type, kind, apiVersion, namespace, name, data }: Event): Sent {
  const extensions = { kind, apiversion: apiVersion, name, namespace };
  const given = Object.entries(extensions).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    headers: {
      'ce-specversion': '1.0',
      'ce-id': crypto.randomUUID(),
      'ce-source': 'https://10.96.0.1:443',
      'ce-type': type,
      'ce-time': '2026-01-01T00:00:00Z',
      'content-type': 'application/json',
      ...Object.fromEntries(given.map(([key, value]) => [`ce-${key}`, value])),
    },
    ...(data === undefined ? {} : { body: JSON.stringify(data) }),
  };
}

/** The same event as one JSON document. */
export function structuredEvent(event: Event): Record<string, unknown> {
  const { headers = {}, body } = binaryEvent(event);
  const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return {
    ...Object.fromEntries(attributes.map(([name, value]) => [name.slice(3), value])),
    datacontenttype: 'application/json',
    ...(body === undefined ? {} : { data: JSON.parse(String(body)) as unknown }),
  };
}
