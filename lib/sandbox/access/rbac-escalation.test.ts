import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { Attributes } from '../model/attributes.ts';
import type { Kind } from '../model/kinds.ts';
import { type Authorizer, type PolicyRule, ruleAllows } from './rbac.ts';
import { assertMayGrant } from './rbac-escalation.ts';
import { anyKind } from '../testing/kind.ts';

const readPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
const readMore: PolicyRule = { apiGroups: [''], resources: ['secrets', 'pods'], verbs: ['get', 'list'] };
const everything: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

describe('granting', () => {
  it.each<[string, PolicyRule[], PolicyRule[]]>([
    ['what one has', [readPods], [{ ...readPods, verbs: ['get'] }]],
    ['a name of what one has', [readPods], [{ ...readPods, resourceNames: ['x'] }]],
    ['anything, having everything', [everything], [readMore, everything]],
    ['anything, with the right to escalate', [{ ...everything, apiGroups: [rbac()], verbs: ['escalate'] }], [readMore]],
    ['paths that one has', [{ verbs: ['*'], nonResourceURLs: ['*'] }], [{ verbs: ['get'], nonResourceURLs: ['/x'] }]],
  ])('allows %s', (_name, held, rules) => {
    expect(() => grant({ rules }, held)).not.toThrow();
  });

  it.each<[string, PolicyRule[], PolicyRule[], string]>([
    ['more resources', [readPods], [readMore], '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'],
    ['everything', [readPods], [everything], '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'],
    [
      'all names, having one',
      [{ ...readPods, resourceNames: ['x'] }],
      [readPods],
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    ],
    ['paths', [readPods], [{ verbs: ['get'], nonResourceURLs: ['/x'] }], '{NonResourceURLs:["/x"], Verbs:["get"]}'],
  ])('refuses %s', (_name, held, rules, line) => {
    expect(() => grant({ rules }, held)).toThrow(
      `roles.rbac.authorization.k8s.io "r" is forbidden: user "eve" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n${line}`,
    );
  });

  it('lets a change pass that leaves the rules alone', () => {
    expect(() => grant({ rules: [everything] }, [], { operation: 'UPDATE', old: role([everything]) })).not.toThrow();
  });

  it('needs what the role gives to bind it, or the right to bind', () => {
    const binding = { roleRef: { apiGroup: rbac(), kind: 'ClusterRole', name: 'reader' } };
    const kind = { kind: kindOf('rolebindings') };

    expect(() => grant(binding, [readPods], kind)).not.toThrow();
    expect(() => grant(binding, [{ ...everything, apiGroups: [rbac()], verbs: ['bind'] }], kind)).not.toThrow();
    expect(() => grant(binding, [], kind)).toThrow('is attempting to grant RBAC permissions not currently held');
    expect(() => grant({ roleRef: { ...binding.roleRef, name: 'none' } }, [], kind)).toThrow(
      'rolebindings.rbac.authorization.k8s.io "none" not found',
    );
  });

  it('trusts masters', () => {
    const caller = { username: 'root', groups: ['system:masters'] };

    expect(() => grant({ rules: [everything] }, [], { caller })).not.toThrow();
  });
});

function role(rules: readonly PolicyRule[]): KubeObject & { rules: readonly PolicyRule[] } {
  return { kind: 'Role', rules };
}

function rbac(): string {
  return 'rbac.authorization.k8s.io';
}

function grant(object: object, held: readonly PolicyRule[], changes: Partial<Attributes> = {}): void {
  const authorizer: Authorizer = {
    decide: (_caller, access) => ({ allowed: held.some((rule) => ruleAllows(rule, access)) }),
    rulesFor: () => ({ rules: held, errors: [] }),
  };
  const attributes: Attributes = {
    operation: 'CREATE',
    kind: kindOf('roles'),
    name: 'r',
    namespace: 'a',
    object,
    caller: { username: 'eve', groups: ['g'] },
    dryRun: false,
    options: {},
    warn: () => undefined,
    ...changes,
  };
  assertMayGrant(attributes, { get: (_kind, name) => (name === 'reader' ? role([readPods]) : undefined) }, authorizer);
}

function kindOf(plural: string): Kind {
  return anyKind({ group: rbac(), plural, kind: plural });
}
