import { parseConfig, type Environment } from '../../lib/function/config.ts';
import type { Definition, Permission } from '../../lib/function/define.ts';
import { renderFunction } from '../../lib/manifests/function-manifests.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { placesOf } from '../../lib/manifests/rights.ts';
import type { AuditEvent } from './audit.ts';
import { usernameOf } from './function.ts';

type Half = 'events' | 'webhook';

/** What everybody may ask of the API server, without a right of their own. */
const openToAll = 'selfsubjectaccessreviews';

/** What a half is granted with these settings: `list nodes`, `patch configmaps node-affinity-mutate-state`. */
export function grantedTo(definition: Definition, half: Half, environment: Environment): string[] {
  const rights = permissionsOf(definition, half, environment).flatMap(({ names, ...permission }) =>
    kindsOfCalls(permission).flatMap((call) => names?.map((name) => `${call} ${name}`) ?? [call]),
  );
  return [...new Set(rights)].sort();
}

/** What a half did, in the same words: with the names of objects where those that it may touch are named. */
export function usedBy(
  definition: Definition,
  half: Half,
  audit: readonly AuditEvent[],
  environment: Environment,
): string[] {
  const permissions = permissionsOf(definition, half, environment);
  const rights = requestsOf(definition, half, audit)
    .filter(({ objectRef }) => objectRef?.resource !== undefined && objectRef.resource !== openToAll)
    .flatMap((event) => callsIn(event).map((call) => inWords(call, event, permissions)));
  return [...new Set(rights)].sort();
}

/** A right may name its objects in one namespace and take all of another. */
function inWords(call: string, { objectRef }: AuditEvent, permissions: readonly Permission[]): string {
  const { name = '', namespace } = objectRef ?? {};
  const granting = permissions.filter((permission) => {
    const places = placesOf(permission.scope, standardSite.namespace);
    return kindsOfCalls(permission).includes(call) && (places.includes(undefined) || places.includes(namespace));
  });
  const limited = granting.length > 0 && granting.every(({ names }) => names !== undefined);
  return limited ? `${call} ${name}` : call;
}

/** What a half was refused for want of a right: `list /apis/apps/v1/deployments`. */
export function refusedTo(definition: Definition, half: Half, audit: readonly AuditEvent[]): string[] {
  return requestsOf(definition, half, audit)
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

function requestsOf({ name }: Definition, half: Half, audit: readonly AuditEvent[]): readonly AuditEvent[] {
  const username = usernameOf(name, half);
  return audit.filter(({ user }) => user.username === username);
}

function permissionsOf(definition: Definition, half: Half, environment: Environment): readonly Permission[] {
  const { placeholders } = renderFunction(definition);
  const config = parseConfig(definition.config, { ...placeholders, ...environment });
  const role = half === 'events' ? 'events' : 'admission';
  return (definition.permissions?.(config, standardSite) ?? []).filter(
    (permission) => permission.role === undefined || permission.role === role,
  );
}

function kindsOfCalls({ groups, resources, verbs }: Permission): string[] {
  return groups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${fullName(resource, group)}`)),
  );
}

/** A server-side apply that makes an object takes the right to create it as well. */
function callsIn({ verb, objectRef, responseStatus }: AuditEvent): string[] {
  const { resource = '', subresource, apiGroup = '' } = objectRef ?? {};
  const what = fullName(subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup);
  const created = verb === 'patch' && responseStatus?.code === 201;
  return [`${verb} ${what}`, ...(created ? [`create ${what}`] : [])];
}

function fullName(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
