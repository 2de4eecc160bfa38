import { describe, expect, it } from '@jest/globals';
import { admin } from './authenticate.ts';
import { impersonate } from './impersonate.ts';
import type { Caller } from '../model/internal.ts';
import { allowAll, type Authorizer, type PolicyRule, ruleAllows } from './rbac.ts';

const listPods = { verb: 'list', group: '', resource: 'pods', namespace: 'a' };
const alice: Caller = { username: 'alice', groups: ['system:authenticated'] };

describe('impersonation', () => {
  it('leaves the caller alone without headers', () => {
    expect(impersonate(alice, {}, listPods, allowAll)).toBe(alice);
  });

  it.each([
    ['a user', 'bob', [], ['system:authenticated']],
    ['a user with groups', 'bob', ['g'], ['g', 'system:authenticated']],
    ['a user whose groups say it already', 'bob', ['system:authenticated', 'g'], ['system:authenticated', 'g']],
    [
      'a service account',
      'system:serviceaccount:a:sa',
      [],
      ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    ],
    ['a service account with groups', 'system:serviceaccount:a:sa', ['g'], ['g', 'system:authenticated']],
    ['nobody', 'system:anonymous', [], ['system:unauthenticated']],
  ])('of %s has its groups', (_name, user, groups, expected) => {
    const headers = { 'impersonate-user': [user], 'impersonate-group': groups };

    expect(impersonate(admin, headers, listPods, allowAll)).toEqual({ username: user, groups: expected });
  });

  it('takes uid and extra fields over', () => {
    const headers = {
      'impersonate-user': ['bob'],
      'impersonate-uid': ['7'],
      'impersonate-extra-acme.com%2fproject': ['x', 'y'],
      'impersonate-extra-%zz': ['z'],
    };

    expect(impersonate(admin, headers, listPods, allowAll)).toMatchObject({
      uid: '7',
      extra: { 'acme.com/project': ['x', 'y'], '%zz': ['z'] },
    });
  });

  it('needs a user', () => {
    expect(() => impersonate(admin, { 'impersonate-group': ['x'] }, listPods, allowAll)).toThrow(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
    );
  });

  it.each([
    ['bob', 'user-info'],
    ['system:serviceaccount:a:b', 'serviceaccount'],
    ['system:node:n', 'arbitrary-node'],
  ])('of %s is refused without the right', (user, mode) => {
    expect(() => impersonate(alice, { 'impersonate-user': [user] }, listPods, only())).toThrow(
      `pods is forbidden: User "alice" cannot impersonate-on:${mode}:list resource "pods" in API group "" in the namespace "a"`,
    );
  });

  it.each([
    [{ 'impersonate-group': ['g'] }, 'groups "g" is forbidden: User "alice" cannot impersonate resource "groups"'],
    [{ 'impersonate-uid': ['g'] }, 'uids.authentication.k8s.io "g" is forbidden'],
    [{ 'impersonate-extra-foo': ['g'] }, 'cannot impersonate resource "userextras/foo" in API group'],
  ])('needs a right for each of %j', (headers, message) => {
    const users = only({ verbs: ['impersonate'], apiGroups: [''], resources: ['users'] });

    expect(() => impersonate(alice, { 'impersonate-user': ['bob'], ...headers }, listPods, users)).toThrow(message);
  });
});

function only(...rules: PolicyRule[]): Authorizer {
  return {
    decide: (_caller, access) => ({ allowed: rules.some((rule) => ruleAllows(rule, access)) }),
    rulesFor: () => ({ rules, errors: [] }),
  };
}
