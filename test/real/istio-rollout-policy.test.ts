import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { confinement } from '../../functions/istio-rollout/policy.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { createClient, type Client, type Reply } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { usernameOf } from './function.ts';
import { applyManifest } from './manifests.ts';
import { rolloutDefinition } from './rollouts.ts';
import { waitUntil } from './wait.ts';

const restart = 'istio-rollout.kube-reflex.dev/restartedAt';
const attempts = 'istio-rollout.kube-reflex.dev/attempts';
const at = '2026-01-02T03:04:05Z';

/** Every right there is: what is refused now is refused by the policy alone. */
const asAccount = {
  'impersonate-user': usernameOf('istio-rollout', 'events'),
  'impersonate-group': 'system:masters',
};

const pathOf: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  statefulsets: '/apis/apps/v1/namespaces/default/statefulsets',
  daemonsets: '/apis/apps/v1/namespaces/default/daemonsets',
  rollouts: '/apis/argoproj.io/v1alpha1/namespaces/default/rollouts',
};

const template = {
  metadata: { labels: { app: 'web' }, annotations: { team: 'shop' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
};
const workload = {
  metadata: { name: 'web', labels: { app: 'web' }, annotations: { note: 'of a user' } },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
};

describe('the shipped policy on the real API server', () => {
  let cluster: Cluster | undefined;
  let client: Client | undefined;

  beforeAll(async () => {
    cluster = await startCluster();
    client = createClient(cluster.access);
    await applyManifest(client, rolloutDefinition);
    for (const manifest of confinement({
      namespace: standardSite.namespace,
      restartAnnotation: restart,
      bookkeeping: [attempts],
    })) {
      await applyManifest(client, manifest);
    }
    await waitUntil('the CRD is served', async () => (await call('GET', pathOf['rollouts'])).code === 200);
    for (const plural of Object.keys(pathOf)) {
      expectCode(201, await call('POST', pathOf[plural], { ...workload, ...headOf(plural) }));
    }
    await waitUntil(
      'the policy is in force',
      async () => (await patchAs('deployments', { spec: { replicas: 9 } })).code === 403,
    );
  });
  afterAll(async () => {
    client?.close();
    await cluster?.stop();
  });

  function api(): Client {
    if (client === undefined) {
      throw new Error('the cluster is not up yet');
    }
    return client;
  }

  function call(method: 'GET' | 'POST', path = '', body?: object): Promise<Reply> {
    return api().call(method, path, body === undefined ? {} : { body });
  }

  /** Dry runs pass through admission like any other request and leave the workload as it was for the next case. */
  function patchAs(plural: string, body: object): Promise<Reply> {
    return api().call('PATCH', `${pathOf[plural] ?? ''}/web`, {
      body,
      query: { dryRun: 'All' },
      headers: { ...asAccount, 'content-type': 'application/merge-patch+json' },
    });
  }

  it.each(['deployments', 'statefulsets', 'daemonsets'])(
    'lets a restart of %s with its bookkeeping pass',
    async (plural) => {
      const patched = await patchAs(plural, {
        metadata: { annotations: { [attempts]: '1' } },
        spec: { template: { metadata: { annotations: { [restart]: at } } } },
      });

      expect(patched).toMatchObject({ code: 200 });
    },
  );

  it('lets restartAt of an Argo Rollout pass, and nothing of its template', async () => {
    const passed = await patchAs('rollouts', {
      metadata: { annotations: { [attempts]: '1' } },
      spec: { restartAt: at },
    });
    const refused = await patchAs('rollouts', { spec: { template: { metadata: { annotations: { [restart]: at } } } } });

    expect([passed.code, refused.code]).toEqual([200, 403]);
  });

  it.each([
    { what: 'an image', body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'evil:1' }] } } } } },
    { what: 'a service account', body: { spec: { template: { spec: { serviceAccountName: 'admin' } } } } },
    { what: 'replicas', body: { spec: { replicas: 0 } } },
    { what: 'a rollout that is paused', body: { spec: { paused: true } } },
    { what: 'a field that was absent', body: { spec: { minReadySeconds: 3 } } },
    {
      what: 'a label of the template',
      body: { spec: { template: { metadata: { labels: { app: 'web', more: 'x' } } } } },
    },
    {
      what: 'another annotation of the template',
      body: { spec: { template: { metadata: { annotations: { team: 'x' } } } } },
    },
    {
      what: 'an annotation of the template that is gone',
      body: { spec: { template: { metadata: { annotations: { team: null } } } } },
    },
    {
      what: 'a restart that is no time',
      body: { spec: { template: { metadata: { annotations: { [restart]: 'now' } } } } },
    },
    { what: 'an annotation of a user', body: { metadata: { annotations: { note: 'ours now' } } } },
    {
      what: 'the policy annotation',
      body: { metadata: { annotations: { 'istio-rollout.kube-reflex.dev/policy': 'auto' } } },
    },
    { what: 'a label', body: { metadata: { labels: { app: 'other' } } } },
    { what: 'a finalizer', body: { metadata: { finalizers: ['example.test/hold'] } } },
    {
      what: 'an owner',
      body: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'b' }] } },
    },
  ])('refuses to change $what', async ({ body }) => {
    const { code, body: status } = await patchAs('deployments', body);

    expect(code).toBe(403);
    expect(status.message).toContain('istio-rollout is confined');
  });

  it('leaves everybody else alone', async () => {
    const patched = await api().call('PATCH', `${pathOf['deployments'] ?? ''}/web`, {
      body: { spec: { replicas: 2 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });

    expect(patched.code).toBe(200);
  });
});

function headOf(plural: string): object {
  return plural === 'rollouts' ? { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' } : {};
}
