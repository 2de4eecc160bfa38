import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Headers } from '../access/authenticate.ts';
import type { Call } from '../verbs/call.ts';
import type { Cluster } from '../write/cluster.ts';
import { faultError, type FaultSubject, type FaultSwitch, type Verdict } from './faults.ts';
import { impersonate } from '../access/impersonate.ts';
import type { Caller } from '../model/internal.ts';
import type { Kind, Kinds } from '../model/kinds.ts';
import { pause } from '../../base/pause.ts';
import { isLeftOut } from '../discovery/left-out.ts';
import { negotiate } from '../http/negotiate.ts';
import { serveObjects } from '../verbs/objects.ts';
import type { Definitions } from '../discovery/openapi.ts';
import { servePath } from '../discovery/paths.ts';
import { type Access, accessOf, forbidden } from '../access/rbac.ts';
import { parseRoute, type ResourceRequest } from '../http/request.ts';
import { type Manner, refusalOf, respond, setCommonHeaders } from '../http/respond.ts';
import { badRequest, methodNotAllowed, notServed, unknownKind, UnknownPath } from '../model/status.ts';

export interface ServerOptions {
  readonly cluster: Cluster;
  readonly definitions: Definitions;
  readonly faults: FaultSwitch;
  authenticate(headers: Headers): Caller;
  /** Ends when the sandbox closes. */
  readonly signal: AbortSignal;
}

/** One request with its answer under way. */
interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly warnings: string[];
  /** Aborts when the client goes away or the sandbox closes; aborting it ends a watch. */
  readonly ending: AbortController;
}

/** What the listeners call for each request. Never throws. */
export function createHandler(options: ServerOptions): (message: IncomingMessage, response: ServerResponse) => void {
  const open = new Set<AbortController>();
  options.signal.addEventListener('abort', () => open.forEach((each) => each.abort()), { once: true });
  return (message, response) => {
    const ending = new AbortController();
    open.add(ending);
    response.once('close', () => {
      open.delete(ending);
      ending.abort();
    });
    void exchange(options, { message, response, ending, warnings: [] });
  };
}

async function exchange(options: ServerOptions, exchange: Exchange): Promise<void> {
  try {
    await handle(options, exchange);
  } catch (error) {
    await refuse(exchange, error).catch(() => exchange.response.destroy());
  }
}

function addressOf({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(`http://sandbox${url.startsWith('/') ? url : `/${url}`}`);
  } catch {
    throw badRequest('the address of the request is malformed');
  }
}

async function handle(options: ServerOptions, exchange: Exchange): Promise<void> {
  const { message, response } = exchange;
  const { method = 'GET', headers } = message;
  response.setHeader('date', options.cluster.clock.now().toUTCString());
  const { pathname: path, searchParams: query } = addressOf(message);
  const route = parseRoute(method, decodedPath(path), query);
  if (route === undefined) {
    throw methodNotAllowed();
  }
  const access = route.to === 'path' ? { verb: route.verb, path } : accessOf(route.request, query.get('fieldSelector'));
  const caller = admitCaller(options, message.headersDistinct, access);
  if (route.to === 'objects') {
    await handleObjects(options, exchange, { request: route.request, query, caller });
    return;
  }
  const { kinds } = options.cluster;
  const { text, contentType } = servePath(kinds, options.definitions, { method, path, accept: headers.accept });
  setCommonHeaders(response, []);
  response.setHeader('content-type', contentType);
  response.end(method === 'HEAD' ? undefined : text);
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest('the address of the request is malformed');
  }
}

function admitCaller(options: ServerOptions, headers: Headers, access: Access): Caller {
  const { authorizer } = options.cluster;
  const caller = impersonate(options.authenticate(headers), headers, access, authorizer);
  const { allowed, reason } = authorizer.decide(caller, access);
  if (!allowed) {
    throw forbidden(caller, access, reason);
  }
  return caller;
}

async function handleObjects(
  { cluster, faults }: ServerOptions,
  { message, response, warnings, ending }: Exchange,
  asked: Pick<Call, 'request' | 'query' | 'caller'>,
): Promise<void> {
  const call: Call = {
    ...asked,
    cluster,
    kind: servedKind(cluster, asked.request),
    representation: negotiate(message.headers.accept),
    message,
    response,
    signal: ending.signal,
    warn: (text) => warnings.push(text),
  };
  const subject = faultSubject(asked.request, asked.caller);
  const { delayMs, outcome } = faults.judge(subject);
  if (delayMs > 0) {
    await pause(delayMs, ending.signal);
  }
  if (strikesBefore(outcome, message)) {
    return;
  }
  const forget = asked.request.verb === 'watch' ? faults.watching(subject, () => ending.abort()) : undefined;
  const answer = await serveObjects(call);
  forget?.();
  if (outcome?.do === 'cut') {
    message.socket.destroy();
  } else if (answer !== undefined) {
    await respond(response, answer, mannerOf(call, warnings));
  }
}

/** Does what a fault does in place of the work; true when nothing is left to do. */
function strikesBefore(outcome: Verdict['outcome'], message: IncomingMessage): boolean {
  switch (outcome?.do) {
    case 'refuse':
      throw faultError(outcome);
    case 'hang':
      return true;
    case 'cut':
      if (outcome.when === 'before') {
        message.socket.destroy();
      }
      return outcome.when === 'before';
    case undefined:
      return false;
  }
}

function mannerOf({ representation, message, query }: Call, warnings: readonly string[]): Manner {
  return {
    isYaml: representation.isYaml,
    isPretty: wantsPretty(message, query),
    isHead: message.method === 'HEAD',
    warnings,
  };
}

function servedKind({ kinds }: Cluster, request: ResourceRequest): Kind {
  const { group, version, plural } = request;
  const kind = kinds.find(group, version, plural);
  if (kind === undefined) {
    throw isLeftOut(request)
      ? notServed(`${plural} of ${group === '' ? version : `${group}/${version}`}`)
      : unknownIn(kinds, request);
  }
  return kind;
}

function unknownIn(kinds: Kinds, { group, version }: ResourceRequest): Error {
  return kinds.versions(group).includes(version) ? unknownKind() : new UnknownPath();
}

function faultSubject({ verb, plural, subresource, namespace, name }: ResourceRequest, caller: Caller): FaultSubject {
  return {
    verb,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    user: caller.username,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}

/** People with curl get indented answers, as from the real API server. */
function wantsPretty({ headers }: IncomingMessage, query: URLSearchParams): boolean {
  const asked = query.get('pretty');
  return asked === null ? /^(curl|Wget)\//.test(headers['user-agent'] ?? '') : asked === 'true' || asked === '1';
}

async function refuse({ message, response, warnings }: Exchange, error: unknown): Promise<void> {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (error instanceof UnknownPath) {
    setCommonHeaders(response, []);
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`${error.message}\n`);
    return;
  }
  const { code, status, refusal } = refusalOf(error);
  if (refusal.retryAfter !== undefined) {
    response.setHeader('retry-after', refusal.retryAfter);
  }
  if (!message.complete) {
    // What was not read of the body would be taken for the next request.
    response.setHeader('connection', 'close');
  }
  const isHead = message.method === 'HEAD';
  const isPretty = wantsPretty(message, new URLSearchParams());
  await respond(response, { code, text: JSON.stringify(status) }, { isYaml: false, isPretty, isHead, warnings });
}
