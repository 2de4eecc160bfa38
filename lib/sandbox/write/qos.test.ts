import { describe, expect, it } from '@jest/globals';
import { qosClass } from './qos.ts';

describe('qosClass', () => {
  const both = { cpu: '1', memory: '1Gi' };

  it.each([
    ['BestEffort', [{}, {}]],
    ['BestEffort', [{ resources: { requests: { 'example.com/gpu': '1' } } }]],
    ['Guaranteed', [{ resources: { limits: both } }]],
    ['Guaranteed', [{ resources: { limits: both, requests: both } }]],
    ['Burstable', [{ resources: { limits: both, requests: { cpu: '500m' } } }]],
    ['Burstable', [{ resources: { requests: { cpu: '1' } } }]],
    ['Burstable', [{ resources: { limits: both } }, {}]],
  ])('is %s for %j', (expected, containers) => {
    expect(qosClass({ kind: 'Pod', ...{ spec: { containers } } })).toBe(expected);
  });
});
