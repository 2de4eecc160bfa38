import type {
  RbacV1Subject,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1PolicyRule,
  V1Role,
  V1RoleBinding,
} from '@kubernetes/client-node';
import type { Wire } from '../../kube/model/wire.ts';
import type { Caller, InternalApi, KindRef } from '../model/internal.ts';
import { present } from '../model/present.ts';
import type { ResourceRequest } from '../http/request.ts';
import { ApiError } from '../model/status.ts';

export type PolicyRule = Wire<V1PolicyRule>;
export type ClusterRole = Wire<V1ClusterRole>;
export type ClusterRoleBinding = Wire<V1ClusterRoleBinding>;
type Role = Wire<V1Role>;
type RoleBinding = Wire<V1RoleBinding>;
type Subject = Wire<RbacV1Subject>;

/** What somebody wants to do: with objects, or with a path such as `/version`. */
export type Access = ResourceAccess | PathAccess;

export interface ResourceAccess {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** For a Namespace itself this is its own name, as in the API server. */
  readonly namespace?: string;
  readonly name?: string;
}

export interface PathAccess {
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason?: string;
}

export interface RuleSet {
  readonly rules: readonly PolicyRule[];
  /** Bindings to roles that do not exist. */
  readonly errors: readonly string[];
}

/** Decides by the Roles, ClusterRoles and bindings that are stored now. */
export interface Authorizer {
  decide(caller: Caller, access: Access): Decision;
  rulesFor(caller: Caller, namespace: string): RuleSet;
}

const rbacGroup = 'rbac.authorization.k8s.io';
const roles: KindRef = { group: rbacGroup, plural: 'roles' };
const roleBindings: KindRef = { group: rbacGroup, plural: 'rolebindings' };
export const clusterRoles: KindRef = { group: rbacGroup, plural: 'clusterroles' };
export const clusterRoleBindings: KindRef = { group: rbacGroup, plural: 'clusterrolebindings' };

export const allowAll: Authorizer = {
  decide: () => ({ allowed: true }),
  rulesFor: () => ({
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
    errors: [],
  }),
};

export function createAuthorizer(api: Pick<InternalApi, 'get' | 'list'>): Authorizer {
  return {
    decide(caller, access) {
      if (caller.groups.includes('system:masters')) {
        return { allowed: true };
      }
      const errors: string[] = [];
      for (const grant of grantsOf(api, caller, 'path' in access ? undefined : access.namespace)) {
        if (grant.rules === undefined) {
          errors.push(grant.missing);
        } else if (grant.rules.some((rule) => ruleAllows(rule, access))) {
          return { allowed: true, reason: `RBAC: allowed by ${grant.description}` };
        }
      }
      return { allowed: false, ...(errors.length === 0 ? {} : { reason: `RBAC: ${joinErrors(errors)}` }) };
    },
    rulesFor(caller, namespace) {
      const grants = [...grantsOf(api, caller, namespace)];
      return {
        rules: grants.flatMap(({ rules: granted = [] }) => granted),
        errors: grants.flatMap((grant) => (grant.rules === undefined ? [grant.missing] : [])),
      };
    },
  };
}

/** What a request on objects asks for. A list of the one object that its selector names counts as naming it. */
export function accessOf(request: ResourceRequest, fieldSelector?: string | null): ResourceAccess {
  const { verb, group, plural, subresource, namespace } = request;
  const name = request.name ?? selectedName(fieldSelector);
  const place = group === '' && plural === 'namespaces' ? request.name : namespace;
  return { verb, group, resource: plural, ...present({ subresource, namespace: place, name }) };
}

function selectedName(fieldSelector: string | null | undefined): string | undefined {
  return /(?:^|,)metadata\.name==?([^,]+)/.exec(fieldSelector ?? '')?.[1];
}

/** The refusal of a request, word for word as the API server gives it. */
export function forbidden(caller: Caller, access: Access, reason?: string): ApiError {
  const suffix = reason === undefined ? '' : `: ${reason}`;
  if ('path' in access) {
    const message = `forbidden: User "${caller.username}" cannot ${access.verb} path "${access.path}"${suffix}`;
    return new ApiError(403, { reason: 'Forbidden', message, details: {} });
  }
  const { verb, group, resource, subresource, name = '' } = access;
  const what = `resource "${fullName(resource, subresource)}" in API group "${group}" ${placeOf(access)}`;
  return new ApiError(403, {
    reason: 'Forbidden',
    message: `${subjectOf(access)} is forbidden: User "${caller.username}" cannot ${verb} ${what}${suffix}`,
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  });
}

function placeOf({ namespace = '' }: ResourceAccess): string {
  return namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
}

function subjectOf({ group, resource, name = '' }: ResourceAccess): string {
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return name === '' ? qualified : `${qualified} "${name}"`;
}

type Grant =
  | { readonly rules: readonly PolicyRule[]; readonly description: string }
  | { readonly rules?: undefined; readonly missing: string };

/** Cluster-wide grants first, then those of the namespace: the order in which the API server names them. */
function* grantsOf(
  api: Pick<InternalApi, 'get' | 'list'>,
  caller: Caller,
  namespace: string | undefined,
): Generator<Grant> {
  const clusterWide = api.list(clusterRoleBindings) as readonly ClusterRoleBinding[];
  const local = namespace ? (api.list(roleBindings, { namespace }) as readonly RoleBinding[]) : [];
  for (const binding of [...clusterWide, ...local]) {
    const subject = binding.subjects?.find((each) => isSubject(each, caller, binding.metadata?.namespace ?? ''));
    if (subject !== undefined) {
      yield grant(api, binding, subject);
    }
  }
}

function grant(
  api: Pick<InternalApi, 'get'>,
  { roleRef, metadata }: ClusterRoleBinding | RoleBinding,
  subject: Subject,
): Grant {
  const { name = '', namespace } = metadata ?? {};
  const place = roleRef.kind === 'ClusterRole' ? undefined : namespace;
  const role = api.get(place === undefined ? clusterRoles : roles, roleRef.name, place) as
    ClusterRole | Role | undefined;
  if (role === undefined) {
    return { missing: `${roleRef.kind.toLowerCase()}.${rbacGroup} "${roleRef.name}" not found` };
  }
  const source = namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const description = `${source} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${subjectName(subject)}"`;
  return { rules: role.rules ?? [], description };
}

function subjectName({ kind, name, namespace = '' }: Subject): string {
  return kind === 'ServiceAccount' ? `${name}/${namespace}` : name;
}

function isSubject({ kind, name, namespace }: Subject, caller: Caller, bindingNamespace: string): boolean {
  switch (kind) {
    case 'User':
      return caller.username === name;
    case 'Group':
      return caller.groups.includes(name);
    case 'ServiceAccount':
      return caller.username === `system:serviceaccount:${namespace ?? bindingNamespace}:${name}`;
    default:
      return false;
  }
}

export function ruleAllows(rule: PolicyRule, access: Access): boolean {
  if (!holds(rule.verbs, access.verb)) {
    return false;
  }
  if ('path' in access) {
    return (rule.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, access.path));
  }
  return (
    holds(rule.apiGroups ?? [], access.group) &&
    coversResource(rule.resources ?? [], access) &&
    coversName(rule.resourceNames ?? [], access.name)
  );
}

function holds(allowed: readonly string[], wanted: string): boolean {
  return allowed.includes('*') || allowed.includes(wanted);
}

function coversResource(allowed: readonly string[], { resource, subresource }: ResourceAccess): boolean {
  return (
    holds(allowed, fullName(resource, subresource)) ||
    (subresource !== undefined && subresource !== '' && allowed.includes(`*/${subresource}`))
  );
}

function coversName(allowed: readonly string[], name: string | undefined): boolean {
  return allowed.length === 0 || (name !== undefined && allowed.includes(name));
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

function fullName(resource: string, subresource: string | undefined): string {
  return subresource === undefined || subresource === '' ? resource : `${resource}/${subresource}`;
}

/** Several errors are listed in brackets, as the API server prints them. */
function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
