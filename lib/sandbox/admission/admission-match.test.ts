import { describe, expect, it } from '@jest/globals';
import { attributes, configMaps, rule, setUp, webhook } from '../test/webhooks.ts';
import type { Webhook } from './admission-match.ts';
import type { Attributes } from '../model/attributes.ts';

describe('a webhook', () => {
  it.each<[string, Partial<Webhook>, Partial<Attributes>, boolean]>([
    ['another operation', { rules: [rule({ operations: ['DELETE'] })] }, {}, false],
    ['any operation', { rules: [rule({ operations: ['*'] })] }, {}, true],
    ['another group', { rules: [rule({ apiGroups: ['apps'] })] }, {}, false],
    ['another version', { rules: [rule({ apiVersions: ['v2'] })] }, {}, false],
    ['any resource', { rules: [rule({ resources: ['*'] })] }, {}, true],
    ['any resource, but a subresource came', { rules: [rule({ resources: ['*'] })] }, { subresource: 'status' }, false],
    ['everything', { rules: [rule({ resources: ['*/*'] })] }, { subresource: 'status' }, true],
    ['all subresources', { rules: [rule({ resources: ['configmaps/*'] })] }, { subresource: 'status' }, true],
    ['a subresource', { rules: [rule({ resources: ['configmaps/status'] })] }, {}, false],
    ['cluster-wide objects', { rules: [rule({ scope: 'Cluster' })] }, {}, false],
    ['namespaced objects', { rules: [rule({ scope: 'Namespaced' })] }, {}, true],
    ['labels that it has', { objectSelector: { matchLabels: { app: 'x' } } }, {}, true],
    ['labels that it lacks', { objectSelector: { matchLabels: { app: 'y' } } }, {}, false],
    [
      'labels that it had',
      { objectSelector: { matchLabels: { app: 'y' } } },
      { old: { metadata: { labels: { app: 'y' } } } },
      true,
    ],
    ['labels of its namespace', { namespaceSelector: { matchLabels: { team: 't' } } }, {}, true],
    ['other labels of its namespace', { namespaceSelector: { matchLabels: { team: 'u' } } }, {}, false],
    ['a condition that holds', { matchConditions: [{ name: 'c', expression: 'yes' }] }, {}, true],
    ['a condition that does not', { matchConditions: [{ name: 'c', expression: 'no' }] }, {}, false],
    [
      'a condition that is false beside a broken one',
      { matchConditions: ['broken', 'no'].map((expression) => ({ name: 'c', expression })) },
      {},
      false,
    ],
    [
      'a broken condition that may be ignored',
      { failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: 'broken' }] },
      {},
      false,
    ],
    [
      'the configuration of admission itself',
      { rules: [rule({ apiGroups: ['*'], resources: ['*'] })] },
      { kind: { ...configMaps, group: 'admissionregistration.k8s.io' } },
      false,
    ],
  ])('selects by %s', async (_name, changes, request, expected) => {
    const { admission, asked } = setUp({ validating: { a: [{ ...webhook('only'), ...changes }] } });

    await admission.validate(attributes(request));

    expect(asked.length > 0).toBe(expected);
  });

  it('refuses the request when a condition cannot be evaluated', async () => {
    const broken = { ...webhook('only'), matchConditions: [{ name: 'c', expression: 'broken' }] };
    const { admission } = setUp({ validating: { a: [broken] } });

    await expect(admission.validate(attributes())).rejects.toThrow(
      `configmaps "x" is forbidden: expression 'broken' resulted in error: no such key`,
    );
  });
});
