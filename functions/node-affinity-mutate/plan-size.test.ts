import { describe, expect, it } from '@jest/globals';
import type { Metadata } from '../../lib/kube/model/wire.ts';
import { withNamespaces } from './plan.ts';
import { emptyState, formatState, readState, type State } from './state.ts';
import { managedLabels, rulesFrom, settings } from './testing/pods.ts';

const config = settings();
const mebibyte = 2 ** 20;
const skip = { 'node-affinity-mutate.kube-reflex.dev/skip': 'true' };

describe('a cluster with more namespaces than a ConfigMap holds', () => {
  it.each([
    ['all of few', 100, 100, 'all', 200],
    ['the managed ones of many', 5_000, 20_000, 'managed', 5_000],
    ['those that are special of very many', 20_000, 20_000, 'special', 10],
  ])('%s are remembered, in a state that can be written', (_what, managed, unmanaged, extent, remembered) => {
    const { state } = withNamespaces(emptyState, seenOf({ managed, unmanaged }), { complete: true, config });

    expect([state.extent ?? 'all', state.namespaces.size]).toEqual([extent, remembered]);
    expect(sizeOf(state)).toBeLessThan(mebibyte * 0.6);
    expect(readState(formatState(state))).toEqual(state);
  });

  it.each([
    ['are not of a tier', {}, 'tier', { operator: 'NotIn', values: ['db'] }],
    ['have no tier', {}, 'tier', { operator: 'DoesNotExist' }],
    ['are of one team of two', { MANAGED_LABEL: 'team in (shop,pay)' }, 'team', { operator: 'In', values: ['shop'] }],
  ])('forgets none of those that a rule is for which %s', (_what, environment, key, condition) => {
    const namespaceSelector = { matchExpressions: [{ key, ...condition }] };
    const rules = rulesFrom([{ name: 'some', match: { namespaceSelector }, pool: { key: 'speed', values: ['high'] } }]);
    const ofRule = { ...managedLabels, team: 'shop' };
    const ofNone = { ...managedLabels, team: 'pay', tier: 'db' };
    const seen = new Map(
      Array.from({ length: 20_000 }, (_, index) => [`n${index}`, { labels: index % 200 === 0 ? ofRule : ofNone }]),
    );
    const { state } = withNamespaces({ ...emptyState, rules }, seen, { complete: true, config: settings(environment) });

    expect([...state.namespaces.keys()]).toEqual(
      [...seen].flatMap(([name, { labels }]) => (labels === ofRule ? [name] : [])),
    );
  });

  it('even if all of them are special', () => {
    const seen = new Map(
      [...seenOf({ managed: 20_000, unmanaged: 0 })].map(([name, metadata]) => [
        name,
        { ...metadata, annotations: skip },
      ]),
    );
    const { state, skipped } = withNamespaces(emptyState, seen, { complete: true, config });

    expect(sizeOf(state)).toBeLessThan(mebibyte * 0.6);
    expect(state.namespaces.size).toBeGreaterThan(4_000);
    expect(skipped).toEqual([expect.stringContaining('and not all of these')]);
  });

  it('a look at one of them writes nothing that the next look at all takes back', () => {
    const seen = seenOf({ managed: 5_000, unmanaged: 20_000 });
    const { state, skipped } = withNamespaces(emptyState, seen, { complete: true, config });
    const one = new Map([...seen].filter(([name]) => name === 'unmanaged-00001'));

    expect(withNamespaces(state, one, { complete: false, config }).state).toEqual(state);
    expect(skipped).toEqual(['more namespaces than the state can hold: only managed ones are remembered']);
  });
});

function sizeOf(state: State): number {
  return Object.values(formatState(state)).join('').length;
}

/** Ten of the managed ones ask to be left alone. */
function seenOf({
  managed,
  unmanaged,
}: {
  readonly managed: number;
  readonly unmanaged: number;
}): Map<string, Metadata> {
  const named = Array.from({ length: managed }, (_, index): [string, Metadata] => [
    `managed-${String(index).padStart(5, '0')}`,
    { labels: managedLabels, ...(index < 10 ? { annotations: skip } : {}) },
  ]);
  const others = Array.from({ length: unmanaged }, (_, index): [string, Metadata] => [
    `unmanaged-${String(index).padStart(5, '0')}`,
    {},
  ]);
  return new Map([...named, ...others]);
}
