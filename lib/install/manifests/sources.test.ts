import { describe, expect, it } from '@jest/globals';
import { configMaps, ingresses, mutatingWebhooks, namespaces, pods } from '../../kube/model/resource.ts';
import { renderFunction } from './function-manifests.ts';
import { renderShared } from './shared.ts';
import { ofKind, placeOf, render, sample, watch } from './testing/sample.ts';

describe('sources', () => {
  it('are split so that only watches of the whole cluster select all namespaces', () => {
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

  it('of cluster-scoped kinds that every cluster has are shared by all functions', () => {
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

  it('watch a kind once, without the selector if another watch covers all objects', () => {
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
      'could not watch gateways: an ApiServerSource looks for "gatewaies"',
    );
  });
});
