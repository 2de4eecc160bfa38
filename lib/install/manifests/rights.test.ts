import { describe, expect, it } from '@jest/globals';
import { ofKind, placeOf, render } from './testing/sample.ts';

describe('rights', () => {
  const onPods = [{ operations: ['CREATE'] as const, apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
  const manifests = render({
    mounts: () => [{ configMap: 'sample-state', path: '/state' }],
    admit: (_config, { namespace }) => [
      {
        path: '/mutate',
        type: 'mutating',
        onError: 'allow',
        timeoutSeconds: 3,
        webhooks: [
          { name: 'mutate.sample.kube-reflex.dev', failurePolicy: 'Ignore', rules: onPods },
          {
            name: 'gate.sample.kube-reflex.dev',
            configuration: 'sample-gate',
            failurePolicy: 'Fail',
            rules: onPods,
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
            objectSelector: { matchLabels: { gate: 'shut' } },
            matchConditions: [{ name: 'not-scheduled', expression: '!has(object.spec.nodeName)' }],
            matchPolicy: 'Exact',
            reinvocationPolicy: 'Never',
          },
        ],
        decide: () => ({ allow: true }),
      },
    ],
    permissions: () => [
      { groups: [''], resources: ['nodes'], verbs: ['list'], scope: 'cluster' },
      { groups: [''], resources: ['secrets'], verbs: ['get'], names: ['tls'], scope: 'own', role: 'admission' },
      {
        groups: ['apps'],
        resources: ['deployments'],
        verbs: ['patch'],
        scope: { namespaces: ['far'] },
        role: 'events',
      },
    ],
  });

  it('are given where the permission says, to the workload that needs them', () => {
    const trust = ['kube-reflex-sample', 'sample-gate'].map((name) => ({
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations'],
      resourceNames: [name],
      verbs: ['get', 'patch'],
    }));
    const roles = manifests.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');

    expect(roles.map((role) => [placeOf(role), role['rules']])).toEqual([
      ['/kube-reflex-sample', [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }, ...trust]],
      ['far/kube-reflex-sample', [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] }]],
      ['kube-reflex/sample', expect.any(Array)],
      ['/kube-reflex-sample-webhook', [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }, ...trust]],
      [
        'kube-reflex/sample-webhook',
        [
          { apiGroups: [''], resources: ['secrets'], resourceNames: ['tls'], verbs: ['get'] },
          { apiGroups: [''], resources: ['secrets'], resourceNames: ['sample-certificates'], verbs: ['get'] },
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        ],
      ],
    ]);
  });

  it('are bound to an account that exists', () => {
    const accounts = ofKind('ServiceAccount', manifests).map(placeOf);
    const bindings = manifests.filter(({ kind }) => kind.endsWith('RoleBinding'));
    const subjects = bindings.flatMap(
      ({ subjects }) => subjects as { readonly name: string; readonly namespace: string }[],
    );

    expect(bindings).toHaveLength(5);
    expect(accounts).toEqual(expect.arrayContaining(subjects.map(({ namespace, name }) => `${namespace}/${name}`)));
  });

  it('give the admission half the ConfigMaps that it starts from, whether or not they exist', () => {
    expect(ofKind('Deployment', manifests)).toMatchObject([
      {
        spec: {
          template: {
            spec: {
              containers: [{ volumeMounts: [{ name: 'sample-state', mountPath: '/state', readOnly: true }] }],
              volumes: [{ name: 'sample-state', configMap: { name: 'sample-state', optional: true } }],
            },
          },
        },
      },
    ]);
  });

  it('come with a webhook that is called for what the definition says', () => {
    expect(ofKind('MutatingWebhookConfiguration', manifests)).toMatchObject([
      {
        webhooks: [
          {
            name: 'mutate.sample.kube-reflex.dev',
            reinvocationPolicy: 'IfNeeded',
            failurePolicy: 'Ignore',
            timeoutSeconds: 3,
            clientConfig: { service: { name: 'sample-webhook', path: '/mutate', port: 443 } },
          },
        ],
      },
      {
        metadata: { name: 'sample-gate' },
        webhooks: [
          {
            name: 'gate.sample.kube-reflex.dev',
            failurePolicy: 'Fail',
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-reflex' } },
            objectSelector: { matchLabels: { gate: 'shut' } },
            matchConditions: [{ name: 'not-scheduled', expression: '!has(object.spec.nodeName)' }],
            matchPolicy: 'Exact',
            reinvocationPolicy: 'Never',
          },
        ],
      },
    ]);
  });
});
