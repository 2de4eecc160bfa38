import { matches, parseSelector, type Selector } from '../../kube/model/selector.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { type FieldSelector, matchesFields, parseFieldSelector, selectedName } from './field-selector.ts';
import type { Kind } from '../model/kinds.ts';
import { isTrue, type ResourceRequest } from '../http/request.ts';
import { badRequest, type Cause, invalid } from '../model/status.ts';

export type VersionMatch = 'Exact' | 'NotOlderThan';

/** What a list or watch asks for. */
export interface ListQuery {
  readonly namespace?: string;
  /** Only an object of this name can match. */
  readonly name?: string;
  readonly labels: Selector;
  readonly fields: FieldSelector;
  readonly limit: number;
  readonly continueAt?: string;
  readonly resourceVersion?: number;
  readonly versionMatch?: VersionMatch;
  readonly sendsInitialEvents?: boolean;
  readonly wantsBookmarks: boolean;
  readonly timeoutSeconds?: number;
}

const unsigned = /^\d{1,15}$/;

export function parseListQuery(kind: Kind, request: ResourceRequest, query: URLSearchParams): ListQuery {
  assertConsistent(query, request.verb === 'watch');
  const fields = parseFieldSelector(kind, query.get('fieldSelector') ?? '');
  const labels = parseLabels(query.get('labelSelector') ?? '');
  return { labels, fields, ...place(request, fields), ...extent(query), ...continuation(query) };
}

function place({ name, namespace }: ResourceRequest, fields: FieldSelector): Pick<ListQuery, 'name' | 'namespace'> {
  const only = name ?? selectedName(fields);
  return { ...(namespace !== undefined && { namespace }), ...(only !== undefined && { name: only }) };
}

function extent(query: URLSearchParams): Pick<ListQuery, 'limit' | 'wantsBookmarks' | 'timeoutSeconds'> {
  const timeoutSeconds = parseInteger(query.get('timeoutSeconds'));
  return {
    limit: Math.max(0, parseInteger(query.get('limit')) ?? 0),
    wantsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
}

function continuation(query: URLSearchParams): Partial<ListQuery> {
  const resourceVersion = parseVersion(query.get('resourceVersion'));
  const versionMatch = query.get('resourceVersionMatch');
  const continueAt = query.get('continue');
  const initial = query.get('sendInitialEvents');
  return {
    ...(continueAt !== null && continueAt !== '' && { continueAt }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(isVersionMatch(versionMatch) && { versionMatch }),
    ...(initial !== null && { sendsInitialEvents: isTrue(initial) }),
  };
}

/** True when the object is one that the query asks for; its namespace is not looked at. */
export function selects({ labels, fields, name }: ListQuery, object: KubeObject): boolean {
  return (
    (name === undefined || object.metadata?.name === name) &&
    matches(labels, object.metadata?.labels) &&
    matchesFields(fields, object)
  );
}

function parseLabels(text: string): Selector {
  try {
    return parseSelector(text);
  } catch {
    throw badRequest(`unable to parse requirement: ${JSON.stringify(text)} is no label selector`);
  }
}

function parseInteger(text: string | null): number | undefined {
  if (text === null || text === '') {
    return undefined;
  }
  if (!/^-?\d{1,15}$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

function parseVersion(text: string | null): number | undefined {
  if (text === null || text === '') {
    return undefined;
  }
  if (!unsigned.test(text)) {
    const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`);
  }
  return Number(text);
}

function isVersionMatch(text: string | null): text is VersionMatch {
  return text === 'Exact' || text === 'NotOlderThan';
}

function assertConsistent(query: URLSearchParams, isWatch: boolean): void {
  const causes = [...matchCauses(query, isWatch), ...initialEventCauses(query, isWatch)];
  if (causes.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
  }
}

function matchCauses(query: URLSearchParams, isWatch: boolean): Cause[] {
  const match = query.get('resourceVersionMatch');
  if (!match || (isWatch && query.has('sendInitialEvents'))) {
    return [];
  }
  if (isWatch) {
    return [forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')];
  }
  return query.get('continue')
    ? [forbiddenMatch('resourceVersionMatch is forbidden when continue is provided')]
    : listMatchCauses(match, query.get('resourceVersion') ?? '');
}

function listMatchCauses(match: string, resourceVersion: string): Cause[] {
  if (resourceVersion === '') {
    return [forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided')];
  }
  if (!isVersionMatch(match)) {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    return [{ reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' }];
  }
  return match === 'Exact' && resourceVersion === '0'
    ? [forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
    : [];
}

function initialEventCauses(query: URLSearchParams, isWatch: boolean): Cause[] {
  if (!query.has('sendInitialEvents')) {
    return [];
  }
  if (!isWatch) {
    const message = 'Forbidden: sendInitialEvents is forbidden for list';
    return [{ reason: 'FieldValueForbidden', message, field: 'sendInitialEvents' }];
  }
  return query.get('resourceVersionMatch') === 'NotOlderThan'
    ? []
    : [forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')];
}

function forbiddenMatch(why: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: 'resourceVersionMatch' };
}
