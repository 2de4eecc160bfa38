import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { KubeObject, Status } from '../../../kube/model/wire.ts';

/** A Kubernetes API that the suite may write to as cluster admin. Pods get ready on its nodes. */
export interface Target {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Makes the server forget all but its present state, as compaction does; it may be unreachable meanwhile. */
  readonly forget: () => Promise<void>;
}

/** Any body that the API sends, loosely: a case names the fields it cares about. */
export interface Body extends KubeObject, Pick<Status, 'message' | 'reason' | 'code' | 'details'> {
  readonly items?: Body[];
  readonly data?: Record<string, string>;
  readonly spec?: Record<string, unknown>;
  readonly status?: unknown;
  readonly type?: string;
  readonly object?: Body;
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; an empty object where the server sent no JSON. */
  readonly body: Body;
  /** The texts of all `Warning` headers. */
  readonly warnings: readonly string[];
}

export interface Call {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as JSON unless it is a string already. */
  readonly body?: unknown;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

export interface Client {
  readonly call: (method: Method, path: string, call?: Call) => Promise<Reply>;
  /** What `node:https` needs for a request whose answer is read as it arrives. */
  readonly options: (method: Method, path: string, call?: Call) => RequestOptions;
  readonly close: () => void;
}

/** Speaks plain HTTPS, so that nothing between the suite and the server smooths over a difference. */
export function createClient(target: Pick<Target, 'url' | 'ca' | 'token'>): Client {
  const agent = new Agent({ keepAlive: true, ca: target.ca });
  function options(method: Method, path: string, { query = {}, headers = {}, body }: Call = {}): RequestOptions {
    const { hostname, port } = new URL(target.url);
    const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const search = new URLSearchParams(pairs).toString();
    return {
      method,
      hostname,
      port,
      agent,
      path: search === '' ? path : `${path}?${search}`,
      headers: {
        authorization: `Bearer ${target.token}`,
        accept: 'application/json',
        // Node sends no length of its own with DELETE.
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(encoded(body)) }),
        ...headers,
      },
    };
  }
  function call(method: Method, path: string, call: Call = {}): Promise<Reply> {
    return exchange(options(method, path, call), call.body);
  }
  return { call, options, close: () => agent.destroy() };
}

function exchange(options: RequestOptions, body: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          code: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          body: parsed(text),
          warnings: warningTexts(incoming.rawHeaders),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : encoded(body));
  });
}

function encoded(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function parsed(text: string): Body {
  return text.startsWith('{') ? (JSON.parse(text) as Body) : {};
}

/** `299 - "text"`: quotes and backslashes inside are escaped. */
function warningTexts(rawHeaders: readonly string[]): string[] {
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'warning')
    .map((value) => value.replace(/^299 - "(.*)"$/s, '$1').replaceAll(/\\(.)/g, '$1'));
}
