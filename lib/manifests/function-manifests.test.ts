import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { text } from '../function/config.ts';
import { defineFunction, type Definition, type Watch } from '../function/define.ts';
import { configMaps, ingresses, mutatingWebhooks, namespaces, pods, type Resource } from '../kube/resource.ts';
import { FunctionSettings, ProcessSettings } from '../settings.ts';
import { functionFile } from './file.ts';
import { renderFunction } from './function-manifests.ts';
import type { Manifest } from './manifest.ts';
import { renderShared } from './shared.ts';

async function ignore(): Promise<void> {
  // What wakes a function matters here, not what it does.
}

function sample(parts: Partial<Definition>): Definition {
  return defineFunction<unknown>({ name: 'sample', summary: 'for tests', config: z.object({}), ...parts });
}

function watch(resource: Resource, parts: Partial<Watch> = {}): Watch {
  return { resource, mode: 'Reference', scope: 'cluster', handle: ignore, ...parts };
}

function render(parts: Partial<Definition>): readonly Manifest[] {
  return renderFunction(sample(parts)).manifests;
}

function ofKind(kind: string, manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

function placeOf({ metadata: { name, namespace } }: Manifest): string {
  return `${namespace ?? ''}/${name}`;
}

describe('sources', () => {
  it('are split so that only what must be seen everywhere selects all namespaces', () => {
    const sources = ofKind(
      'ApiServerSource',
      render({
        on: () => [
          watch(ingresses),
          watch(namespaces, { selector: { matchLabels: { a: 'b' } } }),
          watch(configMaps, { scope: 'own' }),
          watch(pods, { mode: 'Resource', scope: 'own' }),
        ],
      }),
    );

    expect(sources.map(({ metadata: { name }, spec }) => ({ name, spec }))).toMatchObject([
      { name: 'sample-everywhere-reference', spec: { namespaceSelector: {}, resources: [{ kind: 'Ingress' }] } },
      { name: 'sample-reference', spec: { resources: [{ kind: 'Namespace' }, { kind: 'ConfigMap' }] } },
      { name: 'sample-resource', spec: { mode: 'Resource', resources: [{ kind: 'Pod' }] } },
    ]);
    expect(sources.slice(1).filter(({ spec }) => 'namespaceSelector' in (spec as object))).toEqual([]);
  });

  it('of kinds that every cluster has, without namespaces, are one for all functions', () => {
    const one = sample({ name: 'one', on: () => [watch(namespaces), watch(ingresses)] });
    const two = sample({ name: 'two', on: () => [watch(namespaces, { names: ['x'] }), watch(mutatingWebhooks)] });

    const [source, ...others] = ofKind('ApiServerSource', renderShared([one, two]));

    expect(others).toEqual([]);
    expect(source?.['spec']).toMatchObject({
      mode: 'Reference',
      resources: [{ kind: 'Namespace' }, { kind: 'MutatingWebhookConfiguration' }],
      ceOverrides: { extensions: { fnsource: 'shared' } },
    });
    expect(ofKind('ApiServerSource', renderFunction(one).manifests)).toMatchObject([
      { spec: { resources: [{ kind: 'Ingress' }] } },
    ]);
    expect(ofKind('ApiServerSource', renderFunction(two).manifests)).toEqual([]);
    expect(ofKind('Trigger', renderFunction(two).manifests)[0]?.['spec']).toMatchObject({
      filters: [{}, { exact: { fnsource: 'shared', kind: 'Namespace', name: 'x' } }],
    });
  });

  it('of other namespaces live there, with an account of their own, and send to the one Broker', () => {
    const manifests = render({ on: () => [watch(configMaps, { scope: { namespaces: ['one', 'two'] } })] });

    expect(ofKind('ApiServerSource', manifests).map(placeOf)).toEqual(['one/sample-reference', 'two/sample-reference']);
    expect(ofKind('ApiServerSource', manifests)[0]).toMatchObject({
      spec: { sink: { ref: { kind: 'Broker', name: 'kube-reflex', namespace: 'kube-reflex' } } },
    });
    expect(ofKind('ServiceAccount', manifests).map(placeOf)).toEqual([
      'kube-reflex/sample',
      'one/sample-source',
      'two/sample-source',
    ]);
    expect(ofKind('Role', manifests).map(placeOf)).toEqual(['one/sample-source', 'two/sample-source']);
  });

  it('watch a kind once, with the selector unless another watch takes all', () => {
    const selector = { matchLabels: { a: 'b' } };
    const narrow = watch(configMaps, { selector });

    const [selected] = ofKind('ApiServerSource', render({ on: () => [narrow, { ...narrow, names: ['x'] }] }));
    const [all] = ofKind('ApiServerSource', render({ on: () => [narrow, watch(configMaps)] }));

    expect(selected?.['spec']).toHaveProperty('resources', [{ apiVersion: 'v1', kind: 'ConfigMap', selector }]);
    expect(all?.['spec']).toHaveProperty('resources', [{ apiVersion: 'v1', kind: 'ConfigMap' }]);
  });

  it('are refused for a kind whose plural Knative gets wrong', () => {
    const gateways = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'Gateway', plural: 'gateways' };

    expect(() => render({ on: () => [watch({ ...gateways, namespaced: true })] })).toThrow(
      'watch gateways: an ApiServerSource looks for "gatewaies"',
    );
  });
});

describe('triggers', () => {
  function filtersOf(watches: readonly Watch[]): unknown[] {
    return ofKind('Trigger', render({ on: () => watches })).map(
      ({ spec }) => (spec as { readonly filters: unknown }).filters,
    );
  }

  const type = { prefix: { type: 'dev.knative.apiserver.ref.' } };
  const kind = { fnsource: 'sample', apiversion: 'v1', kind: 'ConfigMap' };

  it.each([
    { names: undefined, filters: [type, { exact: kind }] },
    { names: ['a'], filters: [type, { exact: { ...kind, name: 'a' } }] },
    {
      names: ['a', 'b'],
      filters: [type, { exact: kind }, { any: [{ exact: { name: 'a' } }, { exact: { name: 'b' } }] }],
    },
  ])('let pass the objects named $names', ({ names, filters }) => {
    expect(filtersOf([watch(configMaps, names === undefined ? {} : { names })])).toEqual([filters]);
  });

  it('share one filter for all watches of a kind, so that no event arrives twice', () => {
    const both = filtersOf([watch(configMaps, { scope: 'own', names: ['a'] }), watch(configMaps)]);

    expect(both).toEqual([[type, { exact: kind }]]);
  });

  it('tell names in different namespaces apart', () => {
    const scope = { namespaces: ['one', 'two'] };

    expect(filtersOf([watch(configMaps, { scope, names: ['a'] })])).toEqual([
      [
        type,
        { exact: kind },
        { any: [{ exact: { namespace: 'one', name: 'a' } }, { exact: { namespace: 'two', name: 'a' } }] },
      ],
    ]);
  });

  it('have different names where one kind is watched in both modes', () => {
    const manifests = render({ on: () => [watch(configMaps), watch(configMaps, { mode: 'Resource' })] });

    expect(new Set(ofKind('Trigger', manifests).map(placeOf)).size).toBe(2);
  });

  it('always carry their own delivery and dead-letter sink', () => {
    const triggers = ofKind(
      'Trigger',
      render({
        on: () => [watch(ingresses), { type: 'dev.kube-reflex.sample.look', handle: ignore }],
        tick: { schedule: '* * * * *', handle: ignore },
      }),
    );

    expect(triggers.map(({ metadata: { name } }) => name)).toEqual(['sample-ingresses', 'sample-tick', 'sample-hints']);
    for (const { spec } of triggers) {
      expect(spec).toMatchObject({
        delivery: {
          retry: 3,
          backoffPolicy: 'exponential',
          backoffDelay: 'PT0.2S',
          deadLetterSink: { ref: { name: 'dead-letters' } },
        },
      });
    }
  });
});

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

describe('further objects', () => {
  it('come first, for the namespace of the installation', () => {
    const [first] = render({
      objects: (_config, { namespace }) => [
        { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 'thing' }, spec: { namespace } },
      ],
    });

    expect(first).toMatchObject({ kind: 'Thing', spec: { namespace: 'kube-reflex' } });
  });
});

describe('settings', () => {
  const config = z.object({
    TARGET: text({ about: 'where to', example: 'somewhere' }),
    LIMIT: z.string().default('1'),
  });

  it('that have no default are shown by their example and marked', () => {
    const definition = sample({ config });

    expect(functionFile('sample', renderFunction(definition))).toContain(
      '- name: TARGET\n              value: somewhere # an example: set your own\n',
    );
  });

  it('that workloads get are settings that the process or the function knows', () => {
    const known = [ProcessSettings, FunctionSettings, config].flatMap(({ shape }) => Object.keys(shape));
    const workloads = render({ config }).filter(({ kind }) => kind === 'Service' || kind === 'Deployment');
    const names = [...JSON.stringify(workloads).matchAll(/\{"name":"([A-Z_]+)","value"/g)].map(([, name]) => name);

    expect(names).toEqual(expect.arrayContaining(['FUNCTION', 'ROLE', 'TARGET']));
    expect(names.filter((name) => name !== 'FUNCTION' && !known.includes(name ?? ''))).toEqual([]);
  });
});
