import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { Caller, InternalApi } from '../model/internal.ts';
import { accessOf, allowAll, createAuthorizer, forbidden, type PolicyRule, ruleAllows } from './rbac.ts';

const bob: Caller = { username: 'bob', groups: ['viewers', 'system:authenticated'] };

describe('a rule', () => {
  const podReader: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
  const pods = { verb: 'get', group: '', resource: 'pods' };

  it.each<[string, PolicyRule, Parameters<typeof ruleAllows>[1], boolean]>([
    ['names verb, group and resource', podReader, pods, true],
    ['lacks the verb', podReader, { ...pods, verb: 'delete' }, false],
    ['lacks the group', podReader, { ...pods, group: 'apps' }, false],
    ['does not reach subresources', podReader, { ...pods, subresource: 'log' }, false],
    ['names a subresource', { ...podReader, resources: ['pods/log'] }, { ...pods, subresource: 'log' }, true],
    ['names a subresource of all', { ...podReader, resources: ['*/log'] }, { ...pods, subresource: 'log' }, true],
    ['with a subresource does not reach the object', { ...podReader, resources: ['pods/log'] }, pods, false],
    [
      'with all resources reaches subresources',
      { ...podReader, resources: ['*'] },
      { ...pods, subresource: 'x' },
      true,
    ],
    ['with all verbs', { ...podReader, verbs: ['*'] }, { ...pods, verb: 'frob' }, true],
    ['with all groups', { ...podReader, apiGroups: ['*'] }, { ...pods, group: 'x' }, true],
    ['with a name reaches it', { ...podReader, resourceNames: ['a'] }, { ...pods, name: 'a' }, true],
    ['with a name spares others', { ...podReader, resourceNames: ['a'] }, { ...pods, name: 'b' }, false],
    ['with a name does not reach the collection', { ...podReader, resourceNames: ['a'] }, pods, false],
    ['on paths', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, { verb: 'get', path: '/healthz' }, true],
    ['on paths below', { verbs: ['get'], nonResourceURLs: ['/api/*'] }, { verb: 'get', path: '/api/v1' }, true],
    ['on paths elsewhere', { verbs: ['get'], nonResourceURLs: ['/api/*'] }, { verb: 'get', path: '/api' }, false],
    ['on all paths', { verbs: ['*'], nonResourceURLs: ['*'] }, { verb: 'post', path: '/x' }, true],
    ['on objects says nothing of paths', podReader, { verb: 'get', path: '/pods' }, false],
  ])('%s', (_name, rule, access, allowed) => {
    expect(ruleAllows(rule, access)).toBe(allowed);
  });
});

describe('an authorizer', () => {
  const authorizer = createAuthorizer(
    stored({
      'clusterroles//view': { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
      'roles/a/editor': { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
      'clusterrolebindings//viewers': binding('ClusterRole', 'view', { kind: 'Group', name: 'viewers' }),
      'rolebindings/a/editors': binding('Role', 'editor', { kind: 'User', name: 'bob' }),
      'rolebindings/a/accounts': binding('Role', 'editor', { kind: 'ServiceAccount', name: 'sa', namespace: 'b' }),
      'rolebindings/a/broken': binding('ClusterRole', 'nope', { kind: 'User', name: 'bob' }),
    }),
  );
  const secrets = { verb: 'get', group: '', resource: 'secrets' };

  it('lets masters do everything', () => {
    expect(authorizer.decide({ username: 'x', groups: ['system:masters'] }, secrets)).toEqual({ allowed: true });
  });

  it('grants cluster-wide by a group and says by what', () => {
    expect(authorizer.decide(bob, { verb: 'get', group: '', resource: 'pods', namespace: 'z' })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "viewers" of ClusterRole "view" to Group "viewers"',
    });
  });

  it('grants in the namespace of the binding alone', () => {
    expect(authorizer.decide(bob, { ...secrets, namespace: 'a' })).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "editors/a" of Role "editor" to User "bob"',
    });
    expect(authorizer.decide(bob, { ...secrets, namespace: 'b' })).toEqual({ allowed: false });
    expect(authorizer.decide(bob, secrets)).toEqual({ allowed: false });
  });

  it('grants to service accounts by their user name', () => {
    const account: Caller = { username: 'system:serviceaccount:b:sa', groups: [] };

    expect(authorizer.decide(account, { ...secrets, namespace: 'a' }).allowed).toBe(true);
  });

  it('names bindings to roles that are gone', () => {
    expect(authorizer.decide(bob, { ...secrets, verb: 'delete', namespace: 'a' })).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found',
    });
  });

  it('lists the rules that hold in a namespace', () => {
    const { rules, errors } = authorizer.rulesFor(bob, 'a');

    expect(rules.map(({ resources }) => resources)).toEqual([['pods'], ['secrets']]);
    expect(errors).toEqual(['clusterrole.rbac.authorization.k8s.io "nope" not found']);
    expect(allowAll.rulesFor(bob, 'a').rules).toHaveLength(2);
  });
});

describe('a refusal', () => {
  it.each([
    [
      { verb: 'get', group: 'apps', resource: 'deployments', name: 'x', namespace: 'ns' },
      'deployments.apps "x" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" in the namespace "ns"',
    ],
    [
      { verb: 'list', group: '', resource: 'nodes' },
      'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      { verb: 'create', group: '', resource: 'pods', subresource: 'eviction', name: 'x', namespace: 'ns' },
      'pods "x" is forbidden: User "bob" cannot create resource "pods/eviction" in API group "" in the namespace "ns"',
    ],
    [{ verb: 'get', path: '/metrics' }, 'forbidden: User "bob" cannot get path "/metrics"'],
  ])('of %j has the words of the API server', (access, message) => {
    expect(forbidden(bob, access).status).toMatchObject({ code: 403, reason: 'Forbidden', message });
  });
});

describe('the access that a request asks for', () => {
  it('counts a Namespace as being inside itself', () => {
    expect(accessOf({ verb: 'get', group: '', version: 'v1', plural: 'namespaces', name: 'a' })).toEqual({
      verb: 'get',
      group: '',
      resource: 'namespaces',
      namespace: 'a',
      name: 'a',
    });
  });

  it.each([
    ['metadata.name=a', 'a'],
    ['spec.x=y,metadata.name==a', 'a'],
    ['metadata.name!=a', undefined],
    [null, undefined],
  ])('takes the name from %j', (selector, name) => {
    const list = { verb: 'list', group: '', version: 'v1', plural: 'pods' } as const;

    expect(accessOf(list, selector).name).toBe(name);
  });
});

function binding(kind: string, name: string, subject: object): object {
  return { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name }, subjects: [subject] };
}

function stored(objects: Readonly<Record<string, object>>): Pick<InternalApi, 'get' | 'list'> {
  const all = Object.entries(objects).map(([key, rest]): { plural: string; object: KubeObject } => {
    const [plural = '', namespace = '', name = ''] = key.split('/');
    return { plural, object: { ...rest, metadata: { name, ...(namespace === '' ? {} : { namespace }) } } };
  });
  return {
    get: (kind, name, namespace) =>
      all.find(
        ({ plural, object: { metadata } }) =>
          plural === kind.plural && metadata?.name === name && metadata.namespace === namespace,
      )?.object,
    list: (kind, options) =>
      all
        .filter(({ plural, object }) => plural === kind.plural && object.metadata?.namespace === options?.namespace)
        .map(({ object }) => object),
  };
}
