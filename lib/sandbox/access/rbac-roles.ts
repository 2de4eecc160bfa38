import { apiServer, type InternalApi } from '../model/internal.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import {
  type ClusterRole,
  type ClusterRoleBinding,
  clusterRoleBindings,
  clusterRoles,
  type PolicyRule,
} from './rbac.ts';

/** A role that every cluster has from the start. */
interface StandardRole {
  readonly name: string;
  readonly rules: PolicyRule[];
  /** The role that takes these rules over as well. */
  readonly addsTo?: string;
  /** Rules come from all roles that add to this name. */
  readonly gathers?: string;
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];

/** The standard roles, as far as they speak of what the sandbox serves. */
const standardRoles: readonly StandardRole[] = [
  {
    name: 'cluster-admin',
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
  },
  {
    name: 'admin',
    gathers: 'admin',
    rules: [],
  },
  {
    name: 'edit',
    addsTo: 'admin',
    gathers: 'edit',
    rules: [],
  },
  {
    name: 'view',
    addsTo: 'edit',
    gathers: 'view',
    rules: [],
  },
  {
    name: 'system:aggregate-to-admin',
    addsTo: 'admin',
    rules: [
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'] },
      {
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['rolebindings', 'roles'],
      },
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    addsTo: 'edit',
    rules: [
      {
        verbs: read,
        apiGroups: [''],
        resources: ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'],
      },
      { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'] },
      {
        verbs: write,
        apiGroups: [''],
        resources: ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'],
      },
      { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] },
      {
        verbs: write,
        apiGroups: [''],
        resources: [
          'configmaps',
          'persistentvolumeclaims',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'secrets',
          'serviceaccounts',
          'services',
          'services/proxy',
        ],
      },
      { verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token'] },
      { verbs: write, apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
      {
        verbs: write,
        apiGroups: ['apps'],
        resources: [
          'daemonsets',
          'deployments',
          'deployments/rollback',
          'deployments/scale',
          'replicasets',
          'replicasets/scale',
          'statefulsets',
          'statefulsets/scale',
        ],
      },
      { verbs: write, apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] },
      { verbs: write, apiGroups: ['batch'], resources: ['cronjobs', 'jobs'] },
      { verbs: write, apiGroups: ['policy'], resources: ['poddisruptionbudgets'] },
      { verbs: write, apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'] },
      {
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
      },
    ],
  },
  {
    name: 'system:aggregate-to-view',
    addsTo: 'view',
    rules: [
      {
        verbs: read,
        apiGroups: [''],
        resources: [
          'configmaps',
          'endpoints',
          'persistentvolumeclaims',
          'persistentvolumeclaims/status',
          'pods',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'serviceaccounts',
          'services',
          'services/status',
        ],
      },
      {
        verbs: read,
        apiGroups: [''],
        resources: [
          'bindings',
          'limitranges',
          'namespaces/status',
          'pods/log',
          'pods/status',
          'replicationcontrollers/status',
          'resourcequotas',
          'resourcequotas/status',
        ],
      },
      { verbs: read, apiGroups: [''], resources: ['namespaces'] },
      { verbs: read, apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
      { verbs: read, apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
      {
        verbs: read,
        apiGroups: ['apps'],
        resources: [
          'controllerrevisions',
          'daemonsets',
          'daemonsets/status',
          'deployments',
          'deployments/scale',
          'deployments/status',
          'replicasets',
          'replicasets/scale',
          'replicasets/status',
          'statefulsets',
          'statefulsets/scale',
          'statefulsets/status',
        ],
      },
      {
        verbs: read,
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
      },
      { verbs: read, apiGroups: ['batch'], resources: ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'] },
      { verbs: read, apiGroups: ['policy'], resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'] },
      {
        verbs: read,
        apiGroups: ['networking.k8s.io'],
        resources: ['ingresses', 'ingresses/status', 'networkpolicies'],
      },
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ],
  },
  {
    name: 'system:discovery',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/healthz',
          '/livez',
          '/openapi',
          '/openapi/*',
          '/readyz',
          '/version',
          '/version/',
        ],
      },
    ],
  },
  {
    name: 'system:monitoring',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/flagz',
          '/healthz',
          '/healthz/*',
          '/livez',
          '/livez/*',
          '/metrics',
          '/metrics/slis',
          '/readyz',
          '/readyz/*',
          '/statusz',
        ],
      },
      { verbs: ['get'], apiGroups: [''], resources: ['nodes/metrics'] },
    ],
  },
  {
    name: 'system:public-info-viewer',
    rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] }],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/.well-known/openid-configuration',
          '/.well-known/openid-configuration/',
          '/openid/v1/jwks',
          '/openid/v1/jwks/',
        ],
      },
    ],
  },
];

const everybody = ['system:authenticated', 'system:unauthenticated'];

/** Which groups have which role everywhere. */
const standardBindings: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:basic-user': ['system:authenticated'],
  'system:discovery': ['system:authenticated'],
  'system:monitoring': ['system:monitoring'],
  'system:public-info-viewer': everybody,
  'system:service-account-issuer-discovery': ['system:serviceaccounts'],
};

/** Stores the standard roles and bindings. */
export async function createStandardRoles(api: InternalApi): Promise<void> {
  for (const role of standardRoles) {
    await api.create(clusterRoles, clusterRoleOf(role), apiServer);
  }
  for (const [name, groups] of Object.entries(standardBindings)) {
    await api.create(clusterRoleBindings, bindingOf(name, groups), apiServer);
  }
}

const apiGroup = 'rbac.authorization.k8s.io';

function clusterRoleOf({ name, rules, addsTo, gathers }: StandardRole): ClusterRole {
  return {
    ...described('ClusterRole', name, addsTo === undefined ? {} : { [aggregationLabel(addsTo)]: 'true' }),
    rules: gathers === undefined ? rules : gathered(gathers),
    ...(gathers !== undefined && {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(gathers)]: 'true' } }] },
    }),
  };
}

/** What the controller would make of it, so that the role is whole from the start. */
function gathered(name: string): PolicyRule[] {
  return standardRoles
    .filter(({ addsTo }) => addsTo === name)
    .flatMap(({ rules, gathers }) => (gathers === undefined ? rules : gathered(gathers)));
}

function bindingOf(name: string, groups: readonly string[]): ClusterRoleBinding {
  return {
    ...described('ClusterRoleBinding', name, {}),
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ apiGroup, kind: 'Group', name: group })),
  };
}

function described(kind: string, name: string, labels: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind,
    metadata: {
      name,
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
  };
}

function aggregationLabel(name: string): string {
  return `${apiGroup}/aggregate-to-${name}`;
}
