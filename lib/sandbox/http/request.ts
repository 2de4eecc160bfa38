export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** A request on objects, read from method and address as the API server's request info is. */
export interface ResourceRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Where a request goes: to objects, or to another path of the server. */
export type Route =
  { readonly to: 'objects'; readonly request: ResourceRequest } | { readonly to: 'path'; readonly verb: string };

/** Parts of namespaces that are not kinds inside them. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** Reads the route of an address; `undefined` when the method is not one of the API's. */
export function parseRoute(method: string, path: string, query: URLSearchParams): Route | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const place = placeOf(parts);
  if (place === undefined) {
    return { to: 'path', verb: method.toLowerCase() };
  }
  const { rest, ...groupVersion } = place;
  const isWatchPath = rest[0] === 'watch';
  const target = targetOf(isWatchPath ? rest.slice(1) : rest);
  const asksToWatch = isWatchPath || (target.name === undefined && isTrue(query.get('watch')));
  const verb = verbOf(method, target.name !== undefined, asksToWatch);
  return verb && { to: 'objects', request: { verb, ...groupVersion, ...target } };
}

/** Kubernetes reads `1`, `true` and a parameter without value as true. */
export function isTrue(value: string | null): boolean {
  return value !== null && !['false', '0'].includes(value.toLowerCase());
}

function placeOf(parts: readonly string[]): { group: string; version: string; rest: readonly string[] } | undefined {
  const [root, first, second] = parts;
  if (root === 'api' && first !== undefined && parts.length > 2) {
    return { group: '', version: first, rest: parts.slice(2) };
  }
  if (root === 'apis' && first !== undefined && second !== undefined && parts.length > 3) {
    return { group: first, version: second, rest: parts.slice(3) };
  }
  return undefined;
}

function targetOf(rest: readonly string[]): Omit<ResourceRequest, 'verb' | 'group' | 'version'> {
  const [first = '', second, third] = rest;
  const isInNamespace =
    first === 'namespaces' && second !== undefined && third !== undefined && !namespaceSubresources.has(third);
  const [plural = '', name, ...subresource] = isInNamespace ? rest.slice(2) : rest;
  return {
    plural,
    ...(name === undefined ? {} : { name }),
    ...(subresource.length === 0 ? {} : { subresource: subresource.join('/') }),
    ...(isInNamespace ? { namespace: second } : {}),
  };
}

function verbOf(method: string, isNamed: boolean, asksToWatch: boolean): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return readVerb(isNamed, asksToWatch);
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

function readVerb(isNamed: boolean, asksToWatch: boolean): Verb {
  if (asksToWatch) {
    return 'watch';
  }
  return isNamed ? 'get' : 'list';
}
