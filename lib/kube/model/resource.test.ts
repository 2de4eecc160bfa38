import { describe, expect, it } from '@jest/globals';
import { apiVersion, groupVersion, guessedPlural } from './resource.ts';

describe('a resource', () => {
  it.each(['v1', 'apps/v1', 'networking.k8s.io/v1'])('has %s as its group and version', (text) => {
    expect(apiVersion(groupVersion(text))).toBe(text);
  });

  it.each([
    ['Ingress', 'ingresses'],
    ['Gateway', 'gatewaies'],
    ['NetworkPolicy', 'networkpolicies'],
    ['Endpoints', 'endpoints'],
    ['Pod', 'pods'],
  ])('of kind %s is taken for %s by ApiServerSource', (kind, plural) => {
    expect(guessedPlural(kind)).toBe(plural);
  });
});
