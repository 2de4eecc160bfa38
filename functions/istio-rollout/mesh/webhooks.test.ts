import { describe, expect, it } from '@jest/globals';
import { webhookSetOf } from './webhooks.ts';

describe('rules of a webhook', () => {
  it.each([
    ['pods', 1],
    ['*', 1],
    ['*/*', 1],
    ['pods/*', 1],
    ['pods/status', 0],
    ['services/*', 0],
  ])('that name %s make %i injector', (resource, count) => {
    const found = webhookSetOf({
      metadata: { name: 'istio-sidecar-injector' },
      webhooks: [
        {
          name: 'namespace.sidecar-injector.istio.io',
          clientConfig: {},
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] }],
        },
      ],
    });

    expect(found?.injectors).toHaveLength(count);
  });
});
