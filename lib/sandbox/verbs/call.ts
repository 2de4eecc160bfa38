import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, type Body } from '../http/body.ts';
import type { Cluster } from '../write/cluster.ts';
import type { Caller } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import type { Representation } from '../http/negotiate.ts';
import type { Rendering } from '../read/render.ts';
import type { ResourceRequest } from '../http/request.ts';
import type { Write } from '../write/write.ts';
import type { WriteOptions } from '../decode/write-options.ts';

/** One request on objects of a kind, on its way through the sandbox. */
export interface Call {
  readonly cluster: Cluster;
  readonly kind: Kind;
  readonly request: ResourceRequest;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  readonly representation: Representation;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Ends when the client goes away or the sandbox closes. */
  readonly signal: AbortSignal;
  warn(text: string): void;
}

export async function bodyOf({ message }: Call): Promise<Body> {
  return { bytes: await readBody(message), contentType: message.headers['content-type'] };
}

export function userAgentOf({ message }: Call): string {
  return message.headers['user-agent'] ?? '';
}

export function renderingOf({ kind, representation, query, cluster }: Call): Rendering {
  const include = query.get('includeObject');
  return {
    kind,
    as: representation.as,
    include: include === 'None' || include === 'Object' ? include : 'Metadata',
    now: cluster.clock.now(),
  };
}

export function writeOf(call: Call, options: Pick<WriteOptions, 'dryRun' | 'manager' | 'asObject'>): Write {
  const { kind, request, caller } = call;
  const { namespace, name, subresource } = request;
  return {
    kind,
    caller,
    manager: options.manager,
    dryRun: options.dryRun,
    options: options.asObject,
    warn: (text) => call.warn(text),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}
