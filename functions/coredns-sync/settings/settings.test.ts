import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import { integrationOptions, mappingOf, policyOf } from '../policy.ts';

describe('settings', () => {
  it.each([
    [{ GATEWAY_CLASS: 'edge' }, 'GATEWAY_TARGET_CNAME is required'],
    [{ GATEWAY_TARGET_CNAME: 'edge.infra.svc' }, 'GATEWAY_CLASS is required'],
  ])('%j stop the start: half of a pair leads nowhere', (environment, problem) => {
    expect(() => parseConfig(Config, environment)).toThrow(problem);
  });

  it('take a class of any spelling, since those of annotations are free, and compare it as it is written', () => {
    const policy = policyOf(parseConfig(Config, { INGRESS_CLASS: 'Nginx_Internal' }));

    expect(mappingOf(policy, 'Ingress', 'Nginx_Internal')).toBe(0);
    expect(mappingOf(policy, 'Ingress', 'nginx_internal')).toBeUndefined();
  });

  it.each([
    ['{', 'it is none, or an empty one'],
    ['[]', 'it is none, or an empty one'],
    ['[{"ingressClass":"a","targetCNAME":"a.svc."},{"ingressClass":"b"}]', 'entry 2: targetCNAME must be a DNS name'],
    ['[{"ingressClass":"a,b","targetCNAME":"a.svc."}]', 'entry 1: ingressClass must be a class'],
  ])('say what is wrong with the mappings %s', (INGRESS_CLASS_MAPPINGS, problem) => {
    expect(() => parseConfig(Config, { INGRESS_CLASS_MAPPINGS })).toThrow(problem);
  });

  it.each(['/etc/coredns/custom/x', '/etc/coredns/custom/x/', '/etc/coredns//custom/./x'])(
    'find the same directory in MOUNT_PATH=%s',
    (MOUNT_PATH) => {
      const { mountPath } = integrationOptions(policyOf(parseConfig(Config, { MOUNT_PATH })));

      expect(mountPath).toBe('/etc/coredns/custom/x');
    },
  );

  it('count a namespace that is named twice once', () => {
    expect(parseConfig(Config, { WATCH_NAMESPACES: 'a, b,a' }).WATCH_NAMESPACES).toEqual(['a', 'b']);
  });
});
