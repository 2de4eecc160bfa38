import type { Kind } from '../model/kinds.ts';
import { type ListQuery, selects } from './list-options.ts';
import type { Range, Shelf } from '../store/shelf.ts';
import { badRequest, expired, tooLargeResourceVersion } from '../model/status.ts';
import type { Store } from '../store/store.ts';
import { keyOf, type Stored } from '../store/stored.ts';
import { isRecord } from '../../base/json.ts';

/** One page of a list. */
export interface Page {
  readonly revision: number;
  readonly items: readonly Stored[];
  readonly continueAt?: string;
  /** How many more there are; known only where nothing is selected. */
  readonly remaining?: number;
}

interface Token {
  /** The revision that all pages show; -1 to go on with the present state. */
  readonly revision: number;
  readonly from: string;
}

const tooOld =
  'The provided continue parameter is too old to display a consistent list result. ' +
  'You can start a new list without the continue parameter, or use the continue token in this response ' +
  'to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
  'objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** Reads a page: all pages that follow each other's tokens show the same revision. */
export function listPage(store: Store, kind: Kind, query: ListQuery): Page {
  const shelf = store.shelf(kind);
  const token = query.continueAt === undefined ? undefined : parseToken(query.continueAt);
  const revision = revisionOf(store, query, token);
  const range: Range = {
    ...(query.namespace !== undefined && { namespace: query.namespace }),
    ...(token && { from: token.from }),
  };
  return takePage(candidates(shelf, { store, query, revision, range }), query, revision);
}

function revisionOf(store: Store, { resourceVersion, versionMatch }: ListQuery, token: Token | undefined): number {
  if (token) {
    if (resourceVersion !== undefined && resourceVersion > 0) {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return token.revision < 0 ? store.revision : token.revision;
  }
  if (resourceVersion !== undefined && resourceVersion > store.revision) {
    throw tooLargeResourceVersion(resourceVersion, store.revision);
  }
  return versionMatch === 'Exact' && resourceVersion !== undefined ? resourceVersion : store.revision;
}

interface Search {
  readonly store: Store;
  readonly query: ListQuery;
  readonly revision: number;
  readonly range: Range;
}

function candidates(shelf: Shelf, { store, query, revision, range }: Search): Iterable<Stored> {
  const isCurrent = revision >= store.revision;
  if (isCurrent && query.name !== undefined && query.namespace !== undefined) {
    const named = shelf.get(keyOf(query.name, query.namespace));
    return named ? [named] : [];
  }
  const found = isCurrent ? shelf.range(range) : shelf.rangeAt(revision, range);
  if (found === undefined) {
    throw query.continueAt === undefined
      ? expired(`The resourceVersion for the provided list is too old.`)
      : expired(tooOld, formatToken({ revision: -1, from: range.from ?? '' }));
  }
  return found;
}

function takePage(found: Iterable<Stored>, query: ListQuery, revision: number): Page {
  const { items, rest } = split(found, query);
  const last = items.at(-1);
  if (rest === 0 || last === undefined) {
    return { revision, items };
  }
  const selectsAll = query.labels.length === 0 && query.fields.length === 0;
  return {
    revision,
    items,
    continueAt: formatToken({ revision, from: `${last.key}\0` }),
    ...(selectsAll && { remaining: rest }),
  };
}

/** The first items up to the limit, and how many follow them. */
function split(found: Iterable<Stored>, query: ListQuery): { items: Stored[]; rest: number } {
  const limit = query.limit === 0 ? Infinity : query.limit;
  const items: Stored[] = [];
  let rest = 0;
  for (const stored of found) {
    if (!selects(query, stored.object)) {
      continue;
    }
    if (items.length < limit) {
      items.push(stored);
    } else {
      rest += 1;
    }
  }
  return { items, rest };
}

/** The form of a token is the API server's, though clients may not look inside. */
function formatToken({ revision, from }: Token): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: from })).toString('base64url');
}

function parseToken(text: string): Token {
  const token = parseJson(Buffer.from(text, 'base64url').toString());
  if (!isRecord(token) || token['v'] !== 'meta.k8s.io/v1') {
    throw badRequest('invalid continue token: continue key is not valid: the token is not one of this server');
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || typeof start !== 'string') {
    throw badRequest('invalid continue token: continue key is not valid: incorrect encoded start resourceVersion');
  }
  return { revision: rv, from: start };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
