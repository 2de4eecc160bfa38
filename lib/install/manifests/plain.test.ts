import { describe, expect, it } from '@jest/globals';
import type { Definition } from '../../function/definition.ts';
import { configMaps, ingresses } from '../../kube/model/resource.ts';
import { standardInstallation } from './installation.ts';
import { gatewaySubscriptionOf } from './openfaas.ts';
import { plainSource, subscribedSource, plainSubscription } from './plain.ts';
import { ofKind, sample, watch } from './testing/sample.ts';

const one = sample({ name: 'one', on: () => [watch(ingresses)] });
const two = sample({ name: 'two', on: () => [watch(configMaps)] });

describe('the source', () => {
  it.each([
    ['Kubernetes alone', plainSubscription],
    ['OpenFaaS', gatewaySubscriptionOf],
  ])('on %s restarts when its subscriptions change, and only then', (_platform, subscription) => {
    function template(...definitions: readonly Definition[]): unknown {
      const wanted = definitions.map((definition) => subscription(definition, standardInstallation));
      const [deployment] = ofKind('Deployment', subscribedSource(wanted, standardInstallation));
      return (deployment?.['spec'] as { readonly template: unknown }).template;
    }

    expect(template(one, two)).not.toEqual(template(one));
    expect(template(one, two)).toEqual(template(one, two));
  });

  it('marks its pods with a short hash of the subscriptions', () => {
    const [deployment] = ofKind('Deployment', plainSource([one]));

    expect(deployment?.['spec']).toMatchObject({
      template: {
        metadata: { annotations: { 'kube-reflex.dev/subscriptions': expect.stringMatching(/^[0-9a-f]{16}$/) } },
      },
    });
  });
});
