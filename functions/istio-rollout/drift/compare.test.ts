import { describe, expect, it } from '@jest/globals';
import { driftOf } from './compare.ts';
import { isSameImage, parseImage } from './image.ts';
import { proxyOf } from './proxy.ts';

const digests = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);

describe('references of images', () => {
  it.each([
    ['proxyv2', { repository: 'proxyv2', tag: 'latest' }],
    ['registry:5000/istio/proxyv2', { repository: 'registry:5000/istio/proxyv2', tag: 'latest' }],
    ['registry:5000/istio/proxyv2:1.29.0', { repository: 'registry:5000/istio/proxyv2', tag: '1.29.0' }],
    [`istio/proxyv2:1.29.0@${digests[0] ?? ''}`, { repository: 'istio/proxyv2', tag: '1.29.0', digest: digests[0] }],
  ])('%s', (reference, parts) => {
    expect(parseImage(reference)).toEqual(parts);
  });

  it.each([
    ['IR-13 no tag is latest', 'registry:5000/istio/proxyv2', 'registry:5000/istio/proxyv2:latest', false, true],
    ['IR-14 two digests decide', `a/proxyv2:1@${digests[0] ?? ''}`, `a/proxyv2:1@${digests[1] ?? ''}`, false, false],
    ['one digest alone leaves it to the tags', `a/proxyv2:1@${digests[0] ?? ''}`, 'a/proxyv2:1', false, true],
    ['nothing to compare is drift', `a/proxyv2@${digests[0] ?? ''}`, 'a/proxyv2:1', false, false],
    ['IR-15 a mirror is the same', 'mirror.local/istio/proxyv2:1.29.0', 'docker.io/istio/proxyv2:1.29.0', false, true],
    ['IR-15 unless hubs count', 'mirror.local/istio/proxyv2:1.29.0', 'docker.io/istio/proxyv2:1.29.0', true, false],
    ['Docker Hub needs no name', 'istio/proxyv2:1', 'docker.io/istio/proxyv2:1', true, true],
    ['IR-16 a variant is part of the tag', 'istio/proxyv2:1.29.0', 'istio/proxyv2:1.29.0-distroless', false, false],
  ])('%s: %s and %s', (_name, left, right, compareHub, same) => {
    expect(isSameImage(left, right, compareHub)).toBe(same);
    expect(isSameImage(right, left, compareHub)).toBe(same);
  });
});

describe('proxies', () => {
  const checks = ['image', 'missing', 'revision', 'resources'] as const;

  function podWith(cpu: string): ReturnType<typeof proxyOf> {
    const container = { name: 'istio-proxy', image: 'proxyv2:1', resources: { requests: { cpu } } };
    return proxyOf({ spec: { containers: [container] } }, checks);
  }

  it('compares quantities by value', () => {
    const [a, b, c] = [podWith('100m'), podWith('0.1'), podWith('200m')];

    expect(b && driftOf(a, b, { checks, compareHub: false })).toBeUndefined();
    expect(c && driftOf(a, c, { checks, compareHub: false })).toBe('resources');
  });

  it('takes a limit for a request, as the API server does', () => {
    const [live, expected] = [{ requests: { cpu: '1' }, limits: { cpu: '1' } }, { limits: { cpu: '1' } }].map(
      (resources) =>
        proxyOf({ spec: { containers: [{ name: 'istio-proxy', image: 'proxyv2:1', resources }] } }, checks),
    );

    expect(expected && driftOf(live, expected, { checks, compareHub: false })).toBeUndefined();
  });

  it.each([
    { image: 'mirror.local/istio/proxyv2:1', drift: undefined },
    { image: 'docker.io/istio/proxyv2:2', drift: 'initImage' },
  ])('compares images of init containers as those of proxies: $image', ({ image, drift }) => {
    const [live, expected] = [image, 'docker.io/istio/proxyv2:1'].map((init) =>
      proxyOf(
        {
          spec: {
            containers: [{ name: 'istio-proxy', image: 'proxyv2:1' }],
            initContainers: [{ name: 'istio-init', image: init }],
          },
        },
        ['initImage'],
      ),
    );

    expect(expected && driftOf(live, expected, { checks: ['initImage'], compareHub: false })).toBe(drift);
  });

  it('takes an image of auto as no proxy', () => {
    expect(proxyOf({ spec: { containers: [{ name: 'istio-proxy', image: 'auto' }] } }, checks)).toBeUndefined();
  });
});
