import { afterEach, describe, expect, it } from '@jest/globals';
import { injectorConfigMap, revisionWebhooks, tagWebhooks } from '../../sandbox/istio.ts';
import {
  configMaps,
  deployments,
  mutatingWebhooks,
  namespaces,
  pods,
  type Deployment,
  type Pod,
} from '../../../../lib/kube/model/resource.ts';
import { createWebhookClient, type WebhookClient } from '../../../../lib/webhook-client/call.ts';
import { reviewOf, type AdmissionReview } from '../../../../lib/kube/model/review.ts';
import { startSandbox, type Sandbox } from '../../../../lib/sandbox/sandbox.ts';
import { until } from '../../../../lib/source/testing/until.ts';
import { startInjector, type Injector } from './injector.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) {
    await each.close();
  }
});

function keep<T extends { close(): unknown }>(each: T): T {
  opened.push(each);
  return each;
}

function probe(client: WebhookClient, injector: Injector, timeoutMs = 60_000): Promise<AdmissionReview> {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const request = {
    uid: crypto.randomUUID(),
    kind,
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: 'shop',
    operation: 'CREATE' as const,
    userInfo: {},
    object: { metadata: { generateName: 'web-' }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    oldObject: null,
    dryRun: true,
    options: null,
  };
  return client.call({ url: injector.clientConfig.url, ca: injector.ca }, reviewOf(request), { timeoutMs });
}

describe('the stub injector', () => {
  it.each([
    { protocol: 'h2', handshakes: 1 },
    { protocol: 'http/1.1', handshakes: 3 },
  ] as const)(
    'counts probes, connections and how many came at once over $protocol',
    async ({ protocol, handshakes }) => {
      const held = Promise.withResolvers<void>();
      const injector = keep(await startInjector({ protocol, heldUntil: held.promise }));
      const client = keep(createWebhookClient());

      const three = Promise.all([1, 2, 3].map(() => probe(client, injector)));
      await until(() => injector.asked.length === 3, 'all three have arrived');
      held.resolve();
      await three;
      await probe(client, injector);

      expect(injector.counts()).toEqual({ probes: 4, handshakes, peak: 3 });
    },
  );

  it('refuses, fails, hangs and drops as told', async () => {
    const injector = keep(await startInjector());
    const client = keep(createWebhookClient());

    injector.behave({ mode: 'deny' });
    expect((await probe(client, injector)).response).toMatchObject({ allowed: false });
    for (const mode of ['fail', 'hang', 'drop'] as const) {
      injector.behave({ mode });
      await expect(probe(client, injector, 300)).rejects.toThrow();
    }
    injector.behave({ mode: 'inject' });
    expect((await probe(client, injector)).response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  });
});

describe('in a sandbox', () => {
  async function openMesh(): Promise<{ sandbox: Sandbox; injector: Injector }> {
    const sandbox = keep(await startSandbox({ podReadyMs: 0 }));
    const injector = keep(await startInjector({ image: 'docker.io/istio/proxyv2:1.28.4' }));
    await sandbox.api.create(namespaces, { metadata: { name: 'istio-system' } });
    await sandbox.api.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.28.4' }));
    await sandbox.api.create(mutatingWebhooks, revisionWebhooks('default', injector.clientConfig));
    await sandbox.api.create(
      mutatingWebhooks,
      tagWebhooks({ tag: 'prod', revision: 'default' }, injector.clientConfig),
    );
    return { sandbox, injector };
  }

  async function podOf(sandbox: Sandbox, namespace: string): Promise<Pod> {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
    const deployment: Deployment = { metadata: { name: 'web', namespace }, spec };
    await sandbox.api.create(deployments, deployment);
    for (;;) {
      const [pod] = sandbox.api.list(pods).filter(({ metadata }) => metadata?.namespace === namespace);
      if (pod !== undefined) {
        return pod;
      }
      await new Promise(setImmediate);
    }
  }

  it.each([
    { labels: { 'istio-injection': 'enabled' }, proxies: 1 },
    { labels: { 'istio.io/rev': 'prod' }, proxies: 1 },
    { labels: { 'istio.io/rev': 'other' }, proxies: 0 },
    { labels: {}, proxies: 0 },
  ])('pods of a namespace labelled $labels get $proxies proxies', async ({ labels, proxies }) => {
    const { sandbox } = await openMesh();
    await sandbox.api.create(namespaces, { metadata: { name: 'shop', labels } });

    const { spec } = await podOf(sandbox, 'shop');

    expect(spec?.containers.filter(({ name }) => name === 'istio-proxy')).toHaveLength(proxies);
  });
});
