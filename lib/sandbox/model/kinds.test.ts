import { describe, expect, it } from '@jest/globals';
import { comparePriority, createKinds, type Kind } from './kinds.ts';
import { anyKind } from '../test/kind.ts';

function kind(group: string, version: string, plural: string): Kind {
  return anyKind({ group, version, plural, kind: plural.toUpperCase() });
}

describe('kinds', () => {
  it('orders versions as Kubernetes does', () => {
    const names = ['foo', 'v1alpha1', 'v1', 'v10', 'v2beta1', 'v1beta2', 'v1beta10', 'bar'];

    expect(names.sort(comparePriority)).toEqual([
      'v10',
      'v1',
      'v2beta1',
      'v1beta10',
      'v1beta2',
      'v1alpha1',
      'bar',
      'foo',
    ]);
  });

  it('prefers the most stable version of a kind', () => {
    const kinds = createKinds([kind('a', 'v1', 'xs'), kind('a', 'v2', 'xs'), kind('a', 'v1beta1', 'ys')]);

    expect(kinds.preferred({ group: 'a', plural: 'xs' })?.version).toBe('v2');
    expect(kinds.preferred({ group: 'a', plural: 'ys' })?.version).toBe('v1beta1');
    expect(kinds.versions('a')).toEqual(['v2', 'v1', 'v1beta1']);
  });

  it('adds and removes custom kinds', () => {
    const kinds = createKinds([kind('', 'v1', 'pods')]);
    const widgets = kind('example.com', 'v1', 'widgets');

    kinds.setCustom(widgets, [widgets]);
    expect(kinds.find('example.com', 'v1', 'widgets')).toBe(widgets);
    expect(kinds.byName('example.com', 'v1', 'WIDGETS')).toBe(widgets);

    kinds.setCustom(widgets, []);
    expect(kinds.find('example.com', 'v1', 'widgets')).toBeUndefined();
    expect(kinds.groups()).toEqual(['']);
  });
});
