import type { Admission, AdmissionRule, MatchCondition, Webhook } from '../../lib/function/admission.ts';
import type { Site } from '../../lib/function/names.ts';
import type { Resource } from '../../lib/kube/model/resource.ts';
import { admitWorkload } from './admission.ts';
import { excludedNamespaces, ownUser } from './callers.ts';
import type { Config } from './config.ts';
import { changeFreezes, freezeExceptions, group, maintenanceWindows, version, type PolicyKind } from './policy.ts';
import { admitPolicy } from './policy-admission.ts';

const named = 'kubernetes.io/metadata.name';

/** Whatever repairs a cluster runs here: refused while we answer, never locked out while we don't. */
const vital = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'cert-manager',
  'knative-eventing',
  'knative-operator',
  'knative-serving',
  'kourier-system',
];

const workloads: readonly AdmissionRule[] = [
  {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['deployments', 'statefulsets', 'daemonsets'],
    scope: 'Namespaced',
  },
  {
    operations: ['UPDATE'],
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['deployments/scale', 'statefulsets/scale'],
    scope: 'Namespaced',
  },
  {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    apiGroups: ['batch'],
    apiVersions: ['v1'],
    resources: ['cronjobs'],
    scope: 'Namespaced',
  },
];

/** Where the API server asks, and about what. */
export function admissions(config: Config, site: Site): readonly Admission<Config>[] {
  return [
    {
      path: '/validate-freeze-operator-io-v1alpha1-workloads',
      type: 'validating',
      onError: 'deny',
      timeoutSeconds: config.WEBHOOK_TIMEOUT_SECONDS,
      webhooks: workloadWebhooks(config, site),
      decide: admitWorkload,
    },
    ...[changeFreezes, freezeExceptions, maintenanceWindows].map((resource) => policyAdmission(resource, config)),
  ];
}

/** Policies have a configuration of their own, so that one can be taken away without the other. */
function policyAdmission({ kind, plural }: Resource, { WEBHOOK_TIMEOUT_SECONDS }: Config): Admission<Config> {
  const name = kind.toLowerCase();
  return {
    path: `/validate-freeze-operator-io-v1alpha1-${name}`,
    type: 'validating',
    onError: 'deny',
    timeoutSeconds: WEBHOOK_TIMEOUT_SECONDS,
    webhooks: [
      {
        name: `v${name}-v1alpha1.kb.io`,
        configuration: 'kube-reflex-freeze-check-policies',
        rules: [
          {
            operations: ['CREATE', 'UPDATE'],
            apiGroups: [group],
            apiVersions: [version],
            resources: [plural],
            scope: 'Cluster',
          },
        ],
        failurePolicy: 'Fail',
      },
    ],
    decide: admitPolicy(kind as PolicyKind),
  };
}

function workloadWebhooks(config: Config, { namespace }: Site): readonly Webhook[] {
  const { FAILURE_POLICY } = config;
  const excluded = excludedNamespaces(config, namespace);
  const common = { rules: workloads, matchConditions: [notOurselves(config, namespace)] };
  const vitalHere = vital.filter((name) => !excluded.includes(name));
  return [
    {
      ...common,
      name: 'vworkloads-v1alpha1.kb.io',
      failurePolicy: FAILURE_POLICY,
      namespaceSelector: {
        matchExpressions: [{ key: named, operator: 'NotIn', values: distinct([...excluded, ...vital]) }],
      },
    },
    // A list without values would be refused by the API server.
    ...(vitalHere.length === 0
      ? []
      : [
          {
            ...common,
            name: 'vworkloads-vital-v1alpha1.kb.io',
            failurePolicy: 'Ignore' as const,
            namespaceSelector: { matchExpressions: [{ key: named, operator: 'In' as const, values: vitalHere }] },
          },
        ]),
  ];
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** Spares the call where the answer is known. */
function notOurselves(config: Config, namespace: string): MatchCondition {
  const user = JSON.stringify(ownUser(config, namespace));
  return {
    name: 'not-ourselves',
    expression: `!(has(request.userInfo.username) && request.userInfo.username == ${user})`,
  };
}
