import type { Headers } from './authenticate.ts';
import type { Caller } from '../model/internal.ts';
import { present } from '../model/present.ts';
import { type Access, type Authorizer, forbidden, type ResourceAccess } from './rbac.ts';
import { type ApiError, badRequest } from '../model/status.ts';
import { serviceAccountGroups } from './tokens.ts';

/** The caller whom the `Impersonate-*` headers name, or the caller itself. Throws 400, and 403 without the right to. */
export function impersonate(caller: Caller, headers: Headers, request: Access, authorizer: Authorizer): Caller {
  const wanted = wantedCaller(headers);
  if (wanted === undefined) {
    return caller;
  }
  for (const [index, access] of neededAccess(wanted).entries()) {
    const { allowed, reason } = authorizer.decide(caller, access);
    if (!allowed) {
      throw index === 0 ? mayNotActAs(caller, wanted, request) : forbidden(caller, access, reason);
    }
  }
  return withImpliedGroups(wanted);
}

interface Wanted {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const extraPrefix = 'impersonate-extra-';

function wantedCaller(headers: Headers): Wanted | undefined {
  const [uid] = headers['impersonate-uid'] ?? [];
  const extra = extraOf(headers);
  const wanted: Wanted = {
    username: headers['impersonate-user']?.[0] ?? '',
    groups: headers['impersonate-group'] ?? [],
    ...present({ uid, extra }),
  };
  if (wanted.username !== '') {
    return wanted;
  }
  if (uid === undefined && extra === undefined && wanted.groups.length === 0) {
    return undefined;
  }
  throw badRequest(`requested ${inGo(wanted)} without impersonating a user name`);
}

/** Keys come lower-cased and percent-encoded. */
function extraOf(headers: Headers): Record<string, string[]> | undefined {
  const entries = Object.entries(headers).flatMap(([name, values]) =>
    name.startsWith(extraPrefix) ? [[decoded(name.slice(extraPrefix.length)), values ?? []] as const] : [],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The API server prints the user it was asked for as Go does. */
function inGo({ uid = '', groups, extra = {} }: Wanted): string {
  const keys = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${goList(values)}`);
  const map = `map[string][]string${keys.length === 0 ? '(nil)' : `{${keys.join(', ')}}`}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goList(groups)}, Extra:${map}}`;
}

function goList(values: readonly string[]): string {
  return `[]string${values.length === 0 ? '(nil)' : `{${values.map((value) => JSON.stringify(value)).join(', ')}}`}`;
}

function neededAccess({ username, uid, groups, extra = {} }: Wanted): ResourceAccess[] {
  const authentication = { verb: 'impersonate', group: 'authentication.k8s.io' };
  const extraAccess = Object.entries(extra).flatMap(([key, values]) =>
    values.map((name) => ({ ...authentication, resource: 'userextras', subresource: key, name })),
  );
  return [
    userAccess(username),
    ...groups.map((name) => ({ verb: 'impersonate', group: '', resource: 'groups', name })),
    ...(uid === undefined ? [] : [{ ...authentication, resource: 'uids', name: uid }]),
    ...extraAccess,
  ];
}

function userAccess(username: string): ResourceAccess {
  const [, namespace, name] = serviceAccount.exec(username) ?? [];
  return namespace === undefined || name === undefined
    ? { verb: 'impersonate', group: '', resource: 'users', name: username }
    : { verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace, name };
}

const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Names the narrower right that would have been enough. The sandbox grants by the verb `impersonate` alone. */
function mayNotActAs(caller: Caller, { username }: Wanted, request: Access): ApiError {
  return forbidden(caller, { ...request, verb: `impersonate-on:${modeOf(username)}:${request.verb}` });
}

function modeOf(username: string): string {
  if (serviceAccount.test(username)) {
    return 'serviceaccount';
  }
  return username.startsWith('system:node:') ? 'arbitrary-node' : 'user-info';
}

function withImpliedGroups(wanted: Wanted): Caller {
  const [, namespace] = serviceAccount.exec(wanted.username) ?? [];
  const groups =
    namespace !== undefined && wanted.groups.length === 0 ? serviceAccountGroups(namespace) : [...wanted.groups];
  const implied = wanted.username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  const isExplicit = groups.includes('system:authenticated') || groups.includes('system:unauthenticated');
  return { ...wanted, groups: isExplicit ? groups : [...groups, implied] };
}
