import { describe, expect, it } from '@jest/globals';
import type { Watch } from '../../function/triggers.ts';
import { configMaps, ingresses } from '../../kube/model/resource.ts';
import { ignore, ofKind, placeOf, render, watch } from './testing/sample.ts';

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
  ])('match the objects named $names', ({ names, filters }) => {
    expect(filtersOf([watch(configMaps, names === undefined ? {} : { names })])).toEqual([filters]);
  });

  it('share one filter for all watches of a kind, so that no event arrives twice', () => {
    const both = filtersOf([watch(configMaps, { scope: 'own', names: ['a'] }), watch(configMaps)]);

    expect(both).toEqual([[type, { exact: kind }]]);
  });

  it('distinguish equal names in different namespaces', () => {
    const scope = { namespaces: ['one', 'two'] };

    expect(filtersOf([watch(configMaps, { scope, names: ['a'] })])).toEqual([
      [
        type,
        { exact: kind },
        { any: [{ exact: { namespace: 'one', name: 'a' } }, { exact: { namespace: 'two', name: 'a' } }] },
      ],
    ]);
  });

  it('have different names if one kind is watched in both modes', () => {
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
