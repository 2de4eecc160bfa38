import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { planPolicy } from './plan-policy.ts';
import { renderPolicy } from './render-policy.ts';
import { emptyState, type State } from './state.ts';
import { rulesFrom, settings } from './testing/pods.ts';

const here = { active: true, seen: true, since: 'then' };
const rules = rulesFrom([
  { name: 'spot', pool: { key: 'tier', values: ['spot'] }, stop: true, match: { namespaces: ['team-*'] } },
  { name: 'zone', pool: { key: 'zone', values: ['a'] }, mode: 'required' },
  { name: 'rest', pool: { key: 'tier', values: ['rest'] }, tolerations: [{ key: 'x', operator: 'Exists' }] },
]);
const state: State = { ...emptyState, rules, pools: new Map([['tier=spot', here]]) };

describe('the policy', () => {
  it('has one variable for each rule, and switches those off whose pool has no nodes', () => {
    const { policy } = renderPolicy(state, settings(), 'kube-reflex');

    expect(policy.spec).toMatchObject({
      variables: [
        { name: 'namespaceAgrees' },
        { name: 'rule0', expression: '(variables.namespaceAgrees) && (request.namespace.matches("^(team-.*)$"))' },
        { name: 'rule1', expression: 'false' },
        { name: 'rule2', expression: 'false' },
      ],
    });
  });

  it('goes on after a rule that stops only where that one does not apply', () => {
    const pools = new Map([...state.pools, ['tier=rest', here]]);

    const { policy } = renderPolicy({ ...state, pools }, settings(), 'kube-reflex');

    expect(policy.spec).toMatchObject({
      variables: [
        {},
        {},
        {},
        { name: 'rule2', expression: '(variables.namespaceAgrees) && (true) && (!variables.rule0)' },
      ],
    });
  });

  it('leaves required nodes to the webhook and says so', () => {
    const { policy, skipped } = renderPolicy(state, settings(), 'kube-reflex');

    expect((policy.spec as { mutations: unknown[] }).mutations).toHaveLength(3);
    expect(skipped).toEqual(['rule zone: a policy cannot require nodes, so this is left to the webhook']);
  });

  it('is written again only where what there is differs; what the API server filled in does not', () => {
    const wanted = renderPolicy(state, settings(), 'kube-reflex');
    const stored = { ...wanted.policy, spec: { ...wanted.policy.spec, filledIn: true } } as KubeObject;
    const edited = { ...wanted.policy, spec: { ...wanted.policy.spec, failurePolicy: 'Fail' } } as KubeObject;

    expect(planPolicy({ policy: undefined, binding: undefined }, wanted).steps).toHaveLength(2);
    expect(planPolicy({ policy: stored, binding: wanted.binding }, wanted).steps).toEqual([]);
    expect(planPolicy({ policy: edited, binding: wanted.binding }, wanted).steps).toHaveLength(1);
  });
});
