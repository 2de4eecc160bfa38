import { describe, expect, it } from '@jest/globals';
import { decide } from './decide.ts';
import { preferredField, requiredField } from './placement.ts';
import { applyAdditions } from './testing/lossless.ts';
import {
  creating,
  knowing,
  labelTerm,
  managedLabels,
  nameTerm,
  nodeAffinity,
  ourTerm,
  outcomeOf,
  podWith,
  pool,
  poolKey,
  preference,
  requiring,
} from './testing/pods.ts';

const skip = 'node-affinity-mutate.kube-reflex.dev/skip';
const ourExpression = { key: poolKey, operator: 'In', values: [pool] };

describe('what is added to a pod', () => {
  it('NA-1 a bare pod gets exactly the term, weight 10, by one operation', () => {
    const { paths, pod, reason } = outcomeOf(podWith());

    expect(reason).toBe('mutated');
    expect(paths).toEqual(['/spec/affinity']);
    expect(pod.spec.affinity).toEqual({ nodeAffinity: { [preferredField]: [ourTerm] } });
  });

  it.each([
    ['NA-2 an empty affinity', {}, nodeAffinity],
    ['NA-3 a null affinity', null, '/spec/affinity'],
    ['a null nodeAffinity', { nodeAffinity: null }, nodeAffinity],
    ['NA-5 an empty nodeAffinity', { nodeAffinity: {} }, `${nodeAffinity}/${preferredField}`],
    ['NA-6 an empty list', { nodeAffinity: { [preferredField]: [] } }, `${nodeAffinity}/${preferredField}`],
    ['NA-6 a null list', { nodeAffinity: { [preferredField]: null } }, `${nodeAffinity}/${preferredField}`],
  ])('%s is filled in one operation', (_what, affinity, path) => {
    const { paths, pod } = outcomeOf(podWith({ affinity }));

    expect(paths).toEqual([path]);
    expect(pod.spec.affinity?.nodeAffinity).toEqual({ [preferredField]: [ourTerm] });
  });

  it('NA-4 pod anti-affinity stays byte for byte, node affinity comes beside it', () => {
    const podAntiAffinity = { [requiredField]: [{ topologyKey: 'kubernetes.io/hostname', unknown: [1.0] }] };

    const { pod } = outcomeOf(podWith({ affinity: { podAntiAffinity } }));

    expect(pod.spec.affinity).toEqual({ podAntiAffinity, nodeAffinity: { [preferredField]: [ourTerm] } });
  });

  it('NA-7 required terms stay, the preference comes beside them', () => {
    const required = { nodeSelectorTerms: [labelTerm] };

    const { pod } = outcomeOf(podWith({ affinity: { nodeAffinity: { [requiredField]: required } } }));

    expect(pod.spec.affinity?.nodeAffinity).toEqual({ [requiredField]: required, [preferredField]: [ourTerm] });
  });

  it.each([
    [
      'NA-8 after two others',
      [preference(100, { key: 'a', operator: 'Exists' }), preference(1, ourExpression, ourExpression)],
    ],
    ['NA-10 beside one that asks for more', [preference(10, ourExpression, { key: 'zone', operator: 'Exists' })]],
    ['NA-11 beside another pool', [preference(10, { key: poolKey, operator: 'In', values: ['other'] })]],
    [
      'beside one that names nodes too',
      [{ weight: 1, preference: { matchExpressions: [ourExpression], ...nameTerm } }],
    ],
  ])('%s the term is appended last', (_what, preferred) => {
    const { paths, pod } = outcomeOf(preferring(preferred));

    expect(paths).toEqual([`${nodeAffinity}/${preferredField}/-`]);
    expect(pod.spec.affinity?.nodeAffinity?.[preferredField]).toEqual([...preferred, ourTerm]);
  });

  it('NA-12 a pod that was changed is not changed again', () => {
    const { pod } = outcomeOf(podWith());

    expect(outcomeOf(pod)).toMatchObject({ reason: 'already-present', patch: [] });
  });

  it('NA-63 an integer beyond 2^53 and unknown fields survive', () => {
    const text = `{"metadata":{"name":"web"},"spec":{"runAs":9007199254740993,"later":{"x":[1e400]}}}`;

    const { patch } = decide(creating(JSON.parse(text)), knowing());

    expect(applyAdditions(text, patch)).toMatchObject({ untouched: text, replaced: [] });
    expect(applyAdditions(text, patch).after).toContain('"runAs":9007199254740993,"later":{"x":[1e400]}');
  });

  it('says on the pod what was done, if that is wanted', () => {
    const knowledge = knowing({ environment: { EXPLAIN: 'both' } });

    const bare = outcomeOf(podWith(), knowledge);
    const annotated = outcomeOf(podWith({}, { annotations: { a: 'b' } }), knowledge);

    const says = `default: prefers (weight 10) ${poolKey}=${pool}; config abc`;
    expect(bare.paths).toEqual(['/spec/affinity', '/metadata/annotations']);
    expect(bare.pod.metadata.annotations).toEqual({ 'node-affinity-mutate.kube-reflex.dev/applied': says });
    expect(annotated.paths).toEqual([
      '/spec/affinity',
      '/metadata/annotations/node-affinity-mutate.kube-reflex.dev~1applied',
    ]);
    expect(annotated.pod.metadata.annotations).toMatchObject({ a: 'b' });
  });
});

describe('what is left alone', () => {
  it.each([
    ['NA-9 the term with another weight', 'already-present', preferring([preference(50, ourExpression)])],
    ['NA-13 a pod that has its node', 'already-scheduled', podWith({ nodeName: 'n1' })],
    ['NA-14 a mirror pod', 'mirror-pod', podWith({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } })],
    [
      'NA-15 a pod of a DaemonSet',
      'pinned',
      podWith(requiring(nameTerm), { ownerReferences: [{ kind: 'DaemonSet', controller: true }] }),
    ],
    ['NA-16 a pod whose every term names a node', 'pinned', podWith(requiring(nameTerm, nameTerm))],
    ['NA-60 a pod that asks for it', 'opted-out', podWith({}, { annotations: { [skip]: 'true' } })],
    ['NA-60 a pod that asks for it by label', 'opted-out', podWith({}, { labels: { [skip]: 'true' } })],
    ['an odd affinity', 'unexpected-shape', podWith({ affinity: [] })],
    ['an odd list', 'unexpected-shape', preferring({ 0: ourTerm })],
    ['odd annotations', 'unexpected-shape', podWith({}, { annotations: [] })],
    ['a pod without a spec', 'unexpected-shape', { metadata: { name: 'web' } }],
  ])('%s: %s', (_what, reason, object) => {
    expect(outcomeOf(object)).toMatchObject({ reason, patch: [] });
  });

  it.each([
    ['NA-18 an update', 'operation', { operation: 'UPDATE' }],
    ['NA-18 a delete', 'operation', { operation: 'DELETE', object: null }],
    ['NA-18 a connect', 'operation', { operation: 'CONNECT' }],
    ['NA-19 an ephemeral container', 'subresource', { subResource: 'ephemeralcontainers' }],
    ['NA-20 a Deployment', 'kind', { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } }],
    ['no object', 'no-object', { object: null }],
    ['NA-21 kube-system', 'omitted-namespace', { namespace: 'kube-system' }],
    ['its own namespace', 'omitted-namespace', { namespace: 'kube-reflex' }],
    ['a namespace without the label', 'unmanaged-namespace', { namespace: 'other' }],
    ['NA-60 a namespace that asks for it', 'opted-out', { namespace: 'quiet' }],
  ])('%s: %s', (_what, reason, changes) => {
    const namespaces = new Map([
      ['kube-system', { labels: managedLabels }],
      ['other', { labels: {} }],
      ['quiet', { labels: managedLabels, skip: true }],
    ]);

    expect(decide(creating(podWith(), changes), knowing({ namespaces }))).toEqual({ reason, rules: [], patch: [] });
  });

  it.each([
    ['NA-17 a pod with one term that names no node', podWith(requiring(nameTerm, labelTerm))],
    [
      'a pod that only selects nodes',
      podWith({ nodeSelector: { zone: 'a' }, schedulerName: 'mine', hostNetwork: true }),
    ],
    ['a gated pod', podWith({ schedulingGates: [{ name: 'wait' }] })],
    ['NA-60 a pod that declines to be skipped', podWith({}, { annotations: { [skip]: 'false' } })],
    ['a pod whose owner is no controller', podWith({}, { ownerReferences: [{ kind: 'DaemonSet' }] })],
  ])('but %s is changed', (_what, object) => {
    expect(outcomeOf(object).reason).toBe('mutated');
  });

  it.each(['constructor', '__proto__', 'toString'])('NA-23 a namespace named %s is one like any other', (namespace) => {
    const known = knowing({ namespaces: new Map([[namespace, { labels: {} }]]) });

    expect(decide(creating(podWith(), { namespace }), knowing()).reason).toBe('mutated');
    expect(decide(creating(podWith(), { namespace }), known).reason).toBe('unmanaged-namespace');
  });

  it('NA-22 the namespace is that of the request, not of the pod', () => {
    const pod = podWith({}, { namespace: 'kube-system' });

    expect(decide(creating(pod, { namespace: 'shop' }), knowing()).reason).toBe('mutated');
    expect(decide(creating(podWith(), { namespace: 'kube-system' }), knowing()).reason).toBe('omitted-namespace');
  });

  it('NA-24 a dry run gets the same answer', () => {
    expect(decide(creating(podWith(), { dryRun: true }), knowing())).toEqual(decide(creating(podWith()), knowing()));
  });

  it('NA-38 without nodes in the pool nothing is added', () => {
    const absent = knowing({ absent: [`${poolKey}=${pool}`] });

    expect(outcomeOf(podWith(), absent)).toMatchObject({ reason: 'pool-absent', patch: [] });
  });

  it.each([
    [undefined, { [poolKey]: pool }],
    [{ a: 'b' }, { a: 'b', [poolKey]: pool }],
    [{ [poolKey]: 'mine' }, { [poolKey]: 'mine' }],
  ])('NA-39 in fallback the annotations %j become %j if that is wanted', (annotations, expected) => {
    const knowledge = knowing({ environment: { FALLBACK_MODE: 'annotate' }, absent: [`${poolKey}=${pool}`] });

    const { pod, reason } = outcomeOf(podWith({}, annotations === undefined ? {} : { annotations }), knowledge);

    expect(reason).toBe('pool-absent');
    expect(pod.metadata.annotations).toEqual(expected);
    expect(pod.spec.affinity).toBeUndefined();
  });
});

function preferring(preferred: object): object {
  return podWith({ affinity: { nodeAffinity: { [preferredField]: preferred } } });
}
