import { describe, expect, it } from '@jest/globals';
import { preferredField, requiredField } from './placement.ts';
import {
  knowing,
  labelTerm,
  managedLabels,
  nameTerm,
  nodeAffinity,
  outcomeOf,
  podWith,
  preference,
  requiring,
  rulesFrom,
} from './testing/pods.ts';

describe('rules of the ConfigMap', () => {
  const spot = { name: 'spot', pool: { key: 'tier', values: ['spot'] }, weight: 80 };
  const regular = { name: 'regular', pool: { key: 'tier', values: ['regular'] }, weight: 20 };
  const spotTaint = { key: 'spot', operator: 'Exists', effect: 'NoSchedule' };

  function under(...documents: readonly object[]) {
    return knowing({ rules: rulesFrom(documents) });
  }

  it('NA-57 two rules and a toleration are one parent with both terms and one list', () => {
    const { paths, pod, rules } = outcomeOf(podWith(), under({ ...spot, tolerations: [spotTaint] }, regular));

    expect(paths).toEqual(['/spec/affinity', '/spec/tolerations']);
    expect(rules).toEqual(['spot', 'regular']);
    expect(pod.spec.affinity?.nodeAffinity?.[preferredField]).toEqual([
      preference(80, { key: 'tier', operator: 'In', values: ['spot'] }),
      preference(20, { key: 'tier', operator: 'In', values: ['regular'] }),
    ]);
    expect(pod.spec.tolerations).toEqual([spotTaint]);
  });

  it('adds no toleration and no term twice', () => {
    const knowledge = under(
      { ...spot, tolerations: [spotTaint] },
      { ...spot, name: 'again', weight: 1, tolerations: [spotTaint] },
    );

    const first = outcomeOf(podWith({ tolerations: [{ key: 'x', operator: 'Exists' }] }), knowledge);

    expect(first.paths).toEqual(['/spec/affinity', '/spec/tolerations/-']);
    expect(first.rules).toEqual(['spot']);
    expect(outcomeOf(first.pod, knowledge).patch).toEqual([]);
  });

  it('NA-58 a required rule joins every term, adds none, and leaves an empty one empty', () => {
    const knowledge = under({ ...spot, mode: 'required' });

    const { pod } = outcomeOf(podWith(requiring(labelTerm, nameTerm, {}, labelTerm)), knowledge);

    const expression = { key: 'tier', operator: 'In', values: ['spot'] };
    const joined = { matchExpressions: [...labelTerm.matchExpressions, expression] };
    expect(pod.spec.affinity?.nodeAffinity).toEqual({
      [requiredField]: { nodeSelectorTerms: [joined, { ...nameTerm, matchExpressions: [expression] }, {}, joined] },
    });
    expect(outcomeOf(pod, knowledge).reason).toBe('already-present');
  });

  it.each([
    ['no affinity', {}, '/spec/affinity'],
    ['no required terms', { affinity: { nodeAffinity: {} } }, `${nodeAffinity}/${requiredField}`],
    ['an empty list of terms', requiring(), `${nodeAffinity}/${requiredField}/nodeSelectorTerms`],
  ])('a required rule makes one term where there is %s', (_what, spec, path) => {
    const { paths, pod } = outcomeOf(podWith(spec), under({ ...spot, mode: 'required' }));

    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['spot'] }] }];
    expect(paths).toEqual([path]);
    expect(pod.spec.affinity?.nodeAffinity).toEqual({ [requiredField]: { nodeSelectorTerms } });
  });

  it('NA-59 a required rule is skipped while its pool is empty, and for a pinned pod', () => {
    const rules = rulesFrom([{ ...spot, mode: 'required' }]);

    expect(outcomeOf(podWith(), knowing({ rules, absent: ['tier=spot'] })).reason).toBe('pool-absent');
    expect(
      outcomeOf(podWith(requiring(nameTerm)), knowing({ rules, environment: { SKIP_PINNED: 'false' } })),
    ).toMatchObject({ reason: 'pinned', patch: [] });
  });

  it('stops after a rule that says so, unless its pool is away', () => {
    const rules = rulesFrom([{ ...spot, stop: true }, regular]);

    expect(outcomeOf(podWith(), knowing({ rules })).rules).toEqual(['spot']);
    expect(outcomeOf(podWith(), knowing({ rules, absent: ['tier=spot'] })).rules).toEqual(['regular']);
  });

  it.each([
    [{ namespaces: ['team-*', 'shop'] }, true],
    [{ namespaces: ['team-*'] }, false],
    [{ podSelector: { matchLabels: { app: 'web' } } }, true],
    [{ podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] } }, false],
    [{ excludePodLabels: { app: 'web' } }, false],
    [{ excludePodLabels: { app: 'db' } }, true],
    [{ ownerKinds: ['ReplicaSet'] }, true],
    [{ ownerKinds: ['Job'] }, false],
    [{ namespaceSelector: { matchLabels: { team: 'a' } } }, true],
    [{ namespaceSelector: { matchLabels: { team: 'b' } } }, false],
  ])('a rule for %j applies: %s', (match, applies) => {
    const knowledge = knowing({
      rules: rulesFrom([{ ...spot, match }]),
      namespaces: new Map([['shop', { labels: { ...managedLabels, team: 'a' } }]]),
    });
    const pod = podWith({}, { labels: { app: 'web' }, ownerReferences: [{ kind: 'ReplicaSet', controller: true }] });

    expect(outcomeOf(pod, knowledge).reason).toBe(applies ? 'mutated' : 'no-rule');
  });

  it('believes of an unknown namespace only what the API server has checked', () => {
    const asked = { ...spot, match: { namespaceSelector: { matchLabels: managedLabels } } };
    const more = { ...spot, match: { namespaceSelector: { matchLabels: { team: 'a' } } } };

    expect(outcomeOf(podWith(), under(asked)).reason).toBe('mutated');
    expect(outcomeOf(podWith(), under(more)).reason).toBe('no-rule');
  });

  it('a namespace that names its own pool gets that in place of the rules', () => {
    const own = { active: true, seen: true, since: '2026-01-01T00:00:00.000Z' };
    const knowledge = knowing({
      namespaces: new Map([['shop', { labels: managedLabels, pool: 'accelerator in (a,b)' }]]),
      pools: new Map([['accelerator in (a,b)', own]]),
    });

    const { pod, rules } = outcomeOf(podWith(), knowledge);

    expect(rules).toEqual(['namespace']);
    expect(pod.spec.affinity?.nodeAffinity?.[preferredField]).toEqual([
      preference(10, { key: 'accelerator', operator: 'In', values: ['a', 'b'] }),
    ]);
  });
});
