import { describe, expect, it } from '@jest/globals';
import type { Question } from '../probe/question.ts';
import { emptyState, type State } from '../state/state.ts';
import { expectedTags, isPlain, readingOf, type Sample } from './confirm.ts';

const plain: Question = {
  namespace: 'shop',
  owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '1' },
  labels: {},
  annotations: {},
  spec: { containers: [{ name: 'web' }] },
};

function planes(...tags: readonly string[]): State {
  const known = tags.map((tag, index) => [`${index}`, { revision: 'default', hash: tag, changedAt: index, tag }]);
  return { ...emptyState, controlPlanes: Object.fromEntries(known) as State['controlPlanes'] };
}

function answered(tag: string): Sample {
  return { revision: 'default', question: plain, answer: { proxy: { image: `istio/proxyv2:${tag}` } } };
}

const failed: Sample = { revision: 'default', question: plain, answer: { failed: 'no answer' } };

describe('what istiod injects', () => {
  it.each([
    { what: 'fits its ConfigMap', samples: [answered('1.29.0-distroless')], stale: [], confirmed: ['seen'] },
    { what: 'is of another variant', samples: [answered('1.29.0-fips')], stale: [], confirmed: ['seen'] },
    {
      what: 'fits in one of two replicas',
      samples: [answered('1.28.4'), answered('1.29.0')],
      stale: [],
      confirmed: ['seen'],
    },
    { what: 'is what it was before', samples: [answered('1.28.4')], stale: ['default'], confirmed: [] },
    { what: 'is not known where probes fail', samples: [failed], stale: [], confirmed: [] },
    { what: 'is not known where nothing was asked', samples: [], stale: [], confirmed: [] },
  ])('$what', ({ samples, stale, confirmed }) => {
    const reading = readingOf(expectedTags(planes('1.29.0')), samples, { isTrusting: false });

    expect([...reading.stale]).toEqual(stale);
    expect([...reading.confirmed.values()]).toEqual(confirmed);
  });

  it('is believed in the end, and from then on', () => {
    const reading = readingOf(expectedTags(planes('1.29.0')), [answered('7')], { isTrusting: true });

    expect([...reading.stale]).toEqual([]);
    expect(reading.confirmed.get('default')).toBe('trusted');
  });

  it('is measured by the later of two ConfigMaps of a revision', () => {
    expect(expectedTags(planes('1.28.4', '1.29.0')).get('default')?.tag).toBe('1.29.0');
  });
});

describe('a template', () => {
  it.each([
    [{}, true],
    [{ annotations: { 'inject.istio.io/templates': 'gateway' } }, true],
    [{ annotations: { 'inject.istio.io/templates': 'sidecar, ours' } }, false],
    [{ annotations: { 'sidecar.istio.io/proxyImage': 'own/proxy:1' } }, false],
    [{ spec: { containers: [{ name: 'istio-proxy', image: 'auto' }] } }, true],
    [{ spec: { containers: [{ name: 'istio-proxy', image: 'own/proxy:1' }] } }, false],
  ])('with %j gets the tag of the ConfigMap: %s', (change, is) => {
    expect(isPlain({ ...plain, ...change })).toBe(is);
  });
});
