import { type Permission, placesOf } from '../../function/permissions.ts';
import { clusterName, labelsOf, partName, type Part } from '../../function/names.ts';
import { distinct } from './installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';

/** The ServiceAccount of one workload of a function. */
export interface Account {
  /** The function. */
  readonly name: string;
  readonly part: Part;
  readonly namespace: string;
}

/** The account with exactly these rights: one role and one binding for each namespace. */
export function accountWith(account: Account, permissions: readonly Permission[]): Manifest[] {
  const places = Map.groupBy(
    permissions.flatMap((permission) =>
      placesOf(permission.scope, account.namespace).map((place) => ({ place, permission })),
    ),
    ({ place }) => place,
  );
  const roles = [...places].flatMap(([place, granted]) => {
    const rules = distinct(granted.map(({ permission }) => ruleOf(permission)));
    return place === undefined ? clusterRights(account, rules) : rightsIn(place, account, rules);
  });
  return [serviceAccount(account), ...roles];
}

function ruleOf({ groups, resources, verbs, names }: Permission): object {
  return { apiGroups: groups, resources, ...(names === undefined ? {} : { resourceNames: names }), verbs };
}

function serviceAccount({ name, part, namespace }: Account): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: partName(name, part), namespace, labels: labelsOf(name, part) },
  };
}

function clusterRights(account: Account, rules: readonly object[]): Manifest[] {
  const name = clusterName(partName(account.name, account.part));
  const metadata = { name, labels: labelsOf(account.name, account.part) };
  return [
    { apiVersion: rbac, kind: 'ClusterRole', metadata, rules },
    { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata, ...bindingOf(account, { kind: 'ClusterRole', name }) },
  ];
}

function rightsIn(namespace: string, account: Account, rules: readonly object[]): Manifest[] {
  const own = partName(account.name, account.part);
  const name = namespace === account.namespace ? own : clusterName(own);
  const metadata = { name, namespace, labels: labelsOf(account.name, account.part) };
  return [
    { apiVersion: rbac, kind: 'Role', metadata, rules },
    { apiVersion: rbac, kind: 'RoleBinding', metadata, ...bindingOf(account, { kind: 'Role', name }) },
  ];
}

const rbac = 'rbac.authorization.k8s.io/v1';

function bindingOf({ name, part, namespace }: Account, role: { readonly kind: string; readonly name: string }): object {
  return {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', name: partName(name, part), namespace }],
  };
}
