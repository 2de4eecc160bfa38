import { parseConfig, type Environment } from '../../../lib/function/config.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { type Permission, placesOf } from '../../../lib/function/permissions.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { AuditEvent } from '../parts/audit.ts';
import { usernameOf } from './function.ts';

type Half = 'events' | 'webhook';

/** What everybody may ask of the API server, without a right of their own. */
const openToAll = 'selfsubjectaccessreviews';

/** Namespaces that every cluster has: whoever uses a right nowhere else has no need of it in the whole cluster. */
const alwaysThere: readonly (string | undefined)[] = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/**
 * What a half is granted with these settings, and where: `list nodes in the cluster`,
 * `patch configmaps node-affinity-mutate-state in kube-reflex`.
 */
export function grantedTo(definition: Definition, half: Half, environment: Environment): string[] {
  const rights = permissionsOf(definition, half, environment).flatMap(({ names, ...permission }) =>
    kindsOfCalls(permission)
      .flatMap((call) => names?.map((name) => `${call} ${name}`) ?? [call])
      .flatMap((right) => placesIn(permission).map((place) => inPlace(right, place))),
  );
  return [...new Set(rights)].sort();
}

/**
 * What a half needed for what it did, in the same words: with the names of objects where those that it may touch are
 * named, and in the whole cluster only where no Role in a namespace could have been enough.
 */
export function usedBy(
  definition: Definition,
  half: Half,
  audit: readonly AuditEvent[],
  environment: Environment,
): string[] {
  const permissions = permissionsOf(definition, half, environment);
  const uses = requestsOf(definition, half, audit)
    .filter(({ objectRef }) => objectRef?.resource !== undefined && objectRef.resource !== openToAll)
    .flatMap((event) => callsIn(event).map((call) => useOf(call, event, permissions)));
  const known = new Set([...alwaysThere, standardInstallation.namespace, ...permissions.flatMap(placesIn)]);
  known.delete(undefined);
  // Roles go into namespaces that are known when the function is installed. Those of its users and of its targets are not:
  // what it does in any of them takes a right in the whole cluster, which then is enough in all others, too.
  const wide = new Set(uses.flatMap(({ right, at, local }) => (local || known.has(at) ? [] : [right])));
  const rights = uses.map(({ right, at, local }) => inPlace(right, !local && wide.has(right) ? undefined : at));
  return [...new Set(rights)].sort();
}

/** A call that a half made. */
interface Use {
  readonly right: string;
  /** The namespace; there is none for what is in the cluster or asked of all of it. */
  readonly at: string | undefined;
  /** Whether it has a right in just this namespace. */
  readonly local: boolean;
}

/** A right may name its objects in one namespace and take all of another. */
function useOf(call: string, { objectRef }: AuditEvent, permissions: readonly Permission[]): Use {
  const { name = '', namespace, resource } = objectRef ?? {};
  const at = resource === 'namespaces' ? undefined : namespace; // the API server says of each that it lies in itself
  const granting = permissions.filter(
    (permission) =>
      kindsOfCalls(permission).includes(call) && (permission.names === undefined || permission.names.includes(name)),
  );
  const here = granting.filter((permission) => at !== undefined && placesIn(permission).includes(at));
  const local = here.length > 0;
  const fitting = local ? here : granting.filter((permission) => placesIn(permission).includes(undefined));
  const limited = fitting.length > 0 && fitting.every(({ names }) => names !== undefined);
  return { right: limited ? `${call} ${name}` : call, at, local };
}

/** The namespaces that a right is for; `undefined` stands for the whole cluster. */
function placesIn({ scope }: Pick<Permission, 'scope'>): readonly (string | undefined)[] {
  return placesOf(scope, standardInstallation.namespace);
}

function inPlace(right: string, place: string | undefined): string {
  return `${right} in ${place ?? 'the cluster'}`;
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
  return (definition.permissions?.(config, standardInstallation) ?? []).filter(
    (permission) => permission.role === undefined || permission.role === role,
  );
}

function kindsOfCalls({ groups, resources, verbs }: Pick<Permission, 'groups' | 'resources' | 'verbs'>): string[] {
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
