import { apiServer, type InternalApi } from '../model/internal.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { clusterRoleBindings, clusterRoles, type PolicyRule } from './rbac.ts';

/** A role that every cluster has from the start, and the groups that have it everywhere. */
interface StandardRole {
  readonly name: string;
  readonly groups: readonly string[];
  readonly rules: readonly PolicyRule[];
}

const reviews = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'];
const discovery = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];
const health = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** Without these no account could find out what is served, or what it may do. */
const standardRoles: readonly StandardRole[] = [
  {
    name: 'cluster-admin',
    groups: ['system:masters'],
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
  },
  {
    name: 'system:basic-user',
    groups: ['system:authenticated'],
    rules: [
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: reviews },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ],
  },
  {
    name: 'system:discovery',
    groups: ['system:authenticated'],
    rules: [{ verbs: ['get'], nonResourceURLs: [...discovery, ...health] }],
  },
  {
    name: 'system:public-info-viewer',
    groups: ['system:authenticated', 'system:unauthenticated'],
    rules: [{ verbs: ['get'], nonResourceURLs: health }],
  },
];

/** Stores the standard roles and their bindings. */
export async function createStandardRoles(api: InternalApi): Promise<void> {
  for (const { name, groups, rules } of standardRoles) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    const subjects = groups.map((group) => ({ apiGroup, kind: 'Group', name: group }));
    await api.create(clusterRoles, described('ClusterRole', name, { rules }), apiServer);
    await api.create(clusterRoleBindings, described('ClusterRoleBinding', name, { roleRef, subjects }), apiServer);
  }
}

const apiGroup = 'rbac.authorization.k8s.io';

function described(kind: string, name: string, content: object): KubeObject {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind,
    metadata: {
      name,
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    ...content,
  };
}
