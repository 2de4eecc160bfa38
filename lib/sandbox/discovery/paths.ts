import { discover, type Document, version } from './discovery.ts';
import type { Kinds } from '../model/kinds.ts';
import { type Definitions, openApiIndex, openApiV3 } from './openapi.ts';
import { methodNotAllowed, UnknownPath } from '../model/status.ts';

/** What a path that is no object answers with. */
export interface PathAnswer {
  readonly text: string;
  readonly contentType: string;
}

export interface PathRequest {
  readonly method: string;
  readonly path: string;
  readonly accept: string | undefined;
}

const health = new Set(['/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/ping', '/readyz/ping']);

/** Serves everything beside objects: discovery, OpenAPI, version, health. Throws 404 for the rest. */
export function servePath(kinds: Kinds, definitions: Definitions, request: PathRequest): PathAnswer {
  const { method, accept } = request;
  const path = request.path.length > 1 ? request.path.replace(/\/+$/, '') : request.path;
  if (method !== 'GET' && method !== 'HEAD') {
    throw methodNotAllowed();
  }
  if (health.has(path)) {
    return { text: 'ok', contentType: 'text/plain; charset=utf-8' };
  }
  if (path.startsWith('/openapi/')) {
    return json(openApi(kinds, definitions, path));
  }
  const document = documentAt(kinds, path) ?? discover(kinds, path, accept);
  if (document === undefined) {
    throw new UnknownPath();
  }
  return { text: JSON.stringify(document.body), contentType: document.contentType ?? 'application/json' };
}

function documentAt(kinds: Kinds, path: string): Document | undefined {
  switch (path) {
    case '/version':
      return { body: version };
    case '/':
      return { body: { paths: rootPaths(kinds) } };
    default:
      return undefined;
  }
}

function rootPaths(kinds: Kinds): readonly string[] {
  const groups = kinds
    .groups()
    .filter((group) => group !== '')
    .flatMap((group) => [`/apis/${group}`, ...kinds.versions(group).map((each) => `/apis/${group}/${each}`)]);
  return ['/api', '/api/v1', '/apis', ...groups, '/healthz', '/livez', '/openapi/v3', '/readyz', '/version'].sort();
}

function openApi(kinds: Kinds, definitions: Definitions, path: string): object {
  if (path === '/openapi/v3') {
    return openApiIndex(kinds);
  }
  const document = openApiV3(kinds, definitions, path.slice('/openapi/v3/'.length));
  if (document === undefined) {
    throw new UnknownPath();
  }
  return document;
}

function json(body: object): PathAnswer {
  return { text: JSON.stringify(body), contentType: 'application/json' };
}
