import { describe, expect, it } from '@jest/globals';
import type { Node, Pod } from '../../kube/model/resource.ts';
import { chooseNode, problemWith } from './scheduling.ts';

const plain: Node = { metadata: { name: 'plain', labels: { pool: 'a', cores: '4' } } };
const other: Node = { metadata: { name: 'other', labels: { pool: 'b', cores: '16' } } };
const tainted: Node = {
  metadata: { name: 'tainted' },
  spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
};
const cordoned: Node = { metadata: { name: 'cordoned' }, spec: { unschedulable: true } };

function pod(spec: Omit<NonNullable<Pod['spec']>, 'containers'>): Pod {
  return { spec: { containers: [], ...spec } };
}

function requiring(...terms: { key: string; operator: string; values?: string[] }[]): Pod {
  const nodeSelectorTerms = terms.map((term) => ({ matchExpressions: [term] }));
  return pod({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
}

describe('a node', () => {
  it.each<[string, Pod, Node, boolean]>([
    ['anything', pod({}), plain, true],
    ['by label', pod({ nodeSelector: { pool: 'a' } }), plain, true],
    ['by another label', pod({ nodeSelector: { pool: 'b' } }), plain, false],
    ['by In', requiring({ key: 'pool', operator: 'In', values: ['a', 'c'] }), plain, true],
    ['by NotIn', requiring({ key: 'pool', operator: 'NotIn', values: ['a'] }), plain, false],
    ['by Exists', requiring({ key: 'pool', operator: 'Exists' }), plain, true],
    ['by DoesNotExist', requiring({ key: 'pool', operator: 'DoesNotExist' }), plain, false],
    ['by Gt', requiring({ key: 'cores', operator: 'Gt', values: ['8'] }), other, true],
    ['by Lt', requiring({ key: 'cores', operator: 'Lt', values: ['8'] }), other, false],
    ['by an unknown operator', requiring({ key: 'cores', operator: 'Near', values: ['8'] }), other, false],
    [
      'by one of several terms',
      requiring({ key: 'pool', operator: 'In', values: ['z'] }, { key: 'cores', operator: 'Exists' }),
      plain,
      true,
    ],
    ['despite a taint', pod({}), tainted, false],
    ['despite a taint it tolerates', pod({ tolerations: [{ key: 'gpu', value: 'yes' }] }), tainted, true],
    ['despite a taint of another value', pod({ tolerations: [{ key: 'gpu', value: 'no' }] }), tainted, false],
    ['despite all taints', pod({ tolerations: [{ operator: 'Exists' }] }), tainted, true],
    ['although cordoned', pod({}), cordoned, false],
  ])('takes a pod %s', (_name, candidate, node, fits) => {
    expect(problemWith(candidate, node) === undefined).toBe(fits);
  });
});

describe('the choice of a node', () => {
  it('goes to the emptiest', () => {
    expect(chooseNode(pod({}), [plain, other], (node) => (node === 'plain' ? 2 : 1)).node).toBe('other');
  });

  it('goes by preference before that', () => {
    const preference = { matchExpressions: [{ key: 'pool', operator: 'In', values: ['a'] }] };
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] };

    expect(
      chooseNode(pod({ affinity: { nodeAffinity: preferred } }), [plain, other], (node) => (node === 'plain' ? 9 : 0))
        .node,
    ).toBe('plain');
  });

  it('goes to the named node', () => {
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['other'] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };

    expect(chooseNode(pod({ affinity: { nodeAffinity: required } }), [plain, other], () => 0).node).toBe('other');
  });

  it('says why there is none', () => {
    expect(chooseNode(pod({ nodeSelector: { pool: 'z' } }), [plain, other, tainted, cordoned], () => 0)).toEqual({
      why: "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector.",
    });
    expect(chooseNode(pod({}), [], () => 0)).toEqual({ why: 'no nodes available to schedule pods' });
  });
});
