import type { Attributes } from '../model/attributes.ts';
import type { Caller, InternalApi } from '../model/internal.ts';
import {
  type Authorizer,
  type ClusterRole,
  type ClusterRoleBinding,
  clusterRoles,
  type PolicyRule,
  type ResourceAccess,
  roles,
  ruleAllows,
} from './rbac.ts';
import { type ApiError, forbidden, notFound } from '../model/status.ts';
import { isEqual } from '../schema/value.ts';

const group = 'rbac.authorization.k8s.io';

/** Holds the right to pass on what it does not have itself. */
const aggregator = 'system:serviceaccount:kube-system:clusterrole-aggregation-controller';

/** Nobody may give away rights that they do not have, by a role or by a binding. Throws the refusal. */
export function assertMayGrant(attributes: Attributes, api: Pick<InternalApi, 'get'>, authorizer: Authorizer): void {
  const { kind, object, operation, caller } = attributes;
  if (kind.group !== group || operation === 'DELETE' || object === undefined || isTrusted(caller)) {
    return;
  }
  if (kind.plural.endsWith('bindings')) {
    assertMayBind(object as ClusterRoleBinding, attributes, api, authorizer);
  } else {
    assertMayDescribe(object, attributes, authorizer);
  }
}

function assertMayDescribe({ rules = [] }: ClusterRole, attributes: Attributes, authorizer: Authorizer): void {
  const { kind, old, name } = attributes;
  const isSame = old !== undefined && isEqual(rules, (old as ClusterRole).rules ?? []);
  if (!isSame && !may('escalate', { resource: kind.plural, name }, attributes, authorizer)) {
    assertHolds(rules, attributes, authorizer);
  }
}

function isTrusted({ username, groups }: Caller): boolean {
  return groups.includes('system:masters') || username === aggregator;
}

function may(
  verb: string,
  target: Pick<ResourceAccess, 'resource' | 'name'>,
  { caller, namespace }: Attributes,
  authorizer: Authorizer,
): boolean {
  return authorizer.decide(caller, { verb, group, ...target, ...(namespace !== '' && { namespace }) }).allowed;
}

function assertMayBind(
  { roleRef }: ClusterRoleBinding,
  attributes: Attributes,
  api: Pick<InternalApi, 'get'>,
  authorizer: Authorizer,
): void {
  const isClusterRole = roleRef.kind === 'ClusterRole';
  const resource = isClusterRole ? 'clusterroles' : 'roles';
  if (may('bind', { resource, name: roleRef.name }, attributes, authorizer)) {
    return;
  }
  const found = isClusterRole
    ? api.get(clusterRoles, roleRef.name)
    : api.get(roles, roleRef.name, attributes.namespace);
  if (found === undefined) {
    throw notFound({ group, plural: attributes.kind.plural, name: roleRef.name });
  }
  assertHolds((found as ClusterRole).rules ?? [], attributes, authorizer);
}

function assertHolds(rules: readonly PolicyRule[], attributes: Attributes, authorizer: Authorizer): void {
  const { caller, namespace } = attributes;
  const held = authorizer.rulesFor(caller, namespace).rules;
  const missing = rules.flatMap((rule) => atomsOf(rule)).filter((atom) => !held.some((rule) => covers(rule, atom)));
  if (missing.length > 0) {
    throw refusal(attributes, joined(missing));
  }
}

/** A rule about one verb on one thing. */
type Atom =
  | { readonly verb: string; readonly group: string; readonly resource: string; readonly name?: string }
  | { readonly verb: string; readonly path: string };

function atomsOf({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): Atom[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ name }));
  const things = apiGroups.flatMap((each) =>
    resources.flatMap((resource) => names.map((name) => ({ group: each, resource, ...name }))),
  );
  const paths = nonResourceURLs.map((path) => ({ path }));
  return verbs.flatMap((verb) => [...things, ...paths].map((thing) => ({ verb, ...thing })));
}

function covers(rule: PolicyRule, atom: Atom): boolean {
  if ('path' in atom) {
    return ruleAllows(rule, atom);
  }
  const [resource = '', subresource] = atom.resource.split('/', 2);
  return ruleAllows(rule, { ...atom, resource, ...(subresource !== undefined && { subresource }) });
}

/** Missing verbs on the same thing share a line, printed as Go prints a rule. */
function joined(missing: readonly Atom[]): string[] {
  const verbs = new Map<string, string[]>();
  for (const atom of missing) {
    const thing = 'path' in atom ? `NonResourceURLs:["${atom.path}"]` : describe(atom);
    verbs.set(thing, [...(verbs.get(thing) ?? []), atom.verb]);
  }
  return [...verbs].map(([thing, each]) => `{${thing}, Verbs:[${each.map((verb) => `"${verb}"`).join(' ')}]}`).sort();
}

function describe({ group: of, resource, name }: Extract<Atom, { group: string }>): string {
  const names = name === undefined ? '' : `, ResourceNames:["${name}"]`;
  return `APIGroups:["${of}"], Resources:["${resource}"]${names}`;
}

function refusal({ kind, name, caller }: Attributes, lines: readonly string[]): ApiError {
  const groups = caller.groups.map((each) => `"${each}"`).join(' ');
  const who = `user "${caller.username}" (groups=[${groups}])`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  return forbidden({ group, plural: kind.plural, name }, why);
}
