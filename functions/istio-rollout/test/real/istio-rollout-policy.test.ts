import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bookkeeping } from '../../names.ts';
import type { Environment } from '../../../../lib/function/config.ts';
import { createClient, type Client, type Method, type Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { startCluster, type Cluster } from '../../../../test/real/parts/cluster.ts';
import { installationOf } from '../../../../test/support/account.ts';
import { installRights, usernameOf } from '../../../../test/real/support/function.ts';
import { shipped } from './istio-rollout-site.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { rolloutDefinition } from './rollouts.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

const restart = 'istio-rollout.kube-reflex.dev/restartedAt';
const notes = Object.fromEntries(Object.values(bookkeeping).map((note) => [note, '1']));
const at = '2026-01-02T03:04:05Z';

/** With the rights that it ships with. */
const asShipped = { 'impersonate-user': usernameOf('istio-rollout', 'events') };

/** With every right there is: what is refused now is refused by the policy alone. */
const asAccount = { ...asShipped, 'impersonate-group': 'system:masters' };

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
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'istio-system' } });
    await installRights(cluster, shipped);
    await installPolicy(client);
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
        metadata: { annotations: notes },
        spec: { template: { metadata: { annotations: { [restart]: at } } } },
      });

      expect(patched).toMatchObject({ code: 200 });
    },
  );

  it('lets restartAt of an Argo Rollout pass, and nothing of its template', async () => {
    const passed = await patchAs('rollouts', {
      metadata: { annotations: notes },
      spec: { restartAt: at },
    });
    const refused = await patchAs('rollouts', { spec: { template: { metadata: { annotations: { [restart]: at } } } } });

    expect([passed.code, refused.code]).toEqual([200, 403]);
  });

  it.each([
    { what: 'an image', body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'evil:1' }] } } } } },
    { what: 'a service account', body: { spec: { template: { spec: { serviceAccountName: 'admin' } } } } },
    { what: 'replicas', body: { spec: { replicas: 0 } } },
    { what: 'a field that was absent', body: { spec: { minReadySeconds: 3 } } },
    { what: 'the length of its history', body: { spec: { revisionHistoryLimit: 3 } } },
    {
      what: 'a label of the template',
      body: { spec: { template: { metadata: { labels: { app: 'web', more: 'x' } } } } },
    },
    {
      what: 'a finalizer that its pods would get',
      body: { spec: { template: { metadata: { finalizers: ['example.test/hold'] } } } },
    },
    { what: 'a name in the template', body: { spec: { template: { metadata: { name: 'ours' } } } } },
    {
      what: 'an owner that its pods would get',
      body: {
        spec: {
          template: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'b' }] } },
        },
      },
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
    {
      what: 'another key beside its own in one change',
      body: {
        metadata: { annotations: notes },
        spec: { template: { metadata: { annotations: { [restart]: at, 'example.test/more': 'x' } } } },
      },
    },
  ])('refuses to change $what', async ({ body }) => {
    // A DaemonSet has no replicas: what the API server does not know is no change.
    const kinds = ['deployments', 'statefulsets', ...('replicas' in (body.spec ?? {}) ? [] : ['daemonsets'])];
    const replies = await Promise.all(kinds.map((plural) => patchAs(plural, body)));

    expect(replies.map(({ code, body: { message } }) => [code, message])).toEqual(
      kinds.map(() => [403, expect.stringContaining('istio-rollout is confined')]),
    );
  });

  it.each([
    { what: 'pausing a Deployment', plural: 'deployments', body: { spec: { paused: true } } },
    { what: 'replicas of an Argo Rollout', plural: 'rollouts', body: { spec: { replicas: 0 } } },
    { what: 'a label of an Argo Rollout', plural: 'rollouts', body: { metadata: { labels: { app: 'other' } } } },
  ])('refuses $what', async ({ plural, body }) => {
    expect((await patchAs(plural, body)).code).toBe(403);
  });

  it.each<{ readonly method: Method; readonly path: string; readonly body?: object }>([
    { method: 'POST', path: '/apis/apps/v1/namespaces/default/deployments', body: workload },
    { method: 'PUT', path: '/apis/apps/v1/namespaces/default/deployments/web', body: workload },
    { method: 'DELETE', path: '/apis/apps/v1/namespaces/default/deployments/web' },
    {
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/default/deployments/web/scale',
      body: { spec: { replicas: 0 } },
    },
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/default/deployments/web/status', body: {} },
    { method: 'PATCH', path: '/apis/apps/v1/namespaces/default/replicasets/web', body: {} },
    { method: 'POST', path: '/api/v1/namespaces/default/pods', body: {} },
    { method: 'DELETE', path: '/api/v1/namespaces/default/pods/web' },
    { method: 'POST', path: '/api/v1/namespaces/default/pods/web/eviction', body: {} },
    { method: 'PATCH', path: '/api/v1/namespaces/default', body: {} },
    { method: 'PATCH', path: '/api/v1/namespaces/istio-system/configmaps/istio-sidecar-injector', body: {} },
    { method: 'PATCH', path: '/api/v1/namespaces/kube-reflex/configmaps/another', body: {} },
    { method: 'GET', path: '/api/v1/namespaces/kube-reflex/secrets' },
    { method: 'PATCH', path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/any', body: {} },
    {
      method: 'DELETE',
      path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/kube-reflex-istio-rollout',
    },
  ])('has no right to $method $path', async ({ method, path, body }) => {
    const headers = { ...asShipped, ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }) };
    const { code, body: status } = await api().call(method, path, { headers, ...(body && { body }) });

    expect([code, status.message]).toEqual([403, expect.stringContaining('cannot')]);
  });

  it('leaves everybody else alone', async () => {
    const patched = await api().call('PATCH', `${pathOf['deployments'] ?? ''}/web`, {
      body: { spec: { replicas: 2 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });

    expect(patched.code).toBe(200);
  });
});

describe('the shipped policy where the API server is asked what it would inject', () => {
  const path = '/api/v1/namespaces/default/pods';
  const pod = { metadata: { generateName: 'web-' }, spec: template.spec };
  let cluster: Cluster | undefined;
  let client: Client | undefined;

  beforeAll(async () => {
    cluster = await startCluster();
    client = createClient(cluster.access);
    const settings = { PROBE_MODE: 'dryRun' };
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'istio-system' } });
    await installRights(cluster, shipped, settings);
    await installPolicy(client, settings);
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } };
    await applyManifest(client, account); // nobody else makes it here, and without it there are no pods
    expectCode(201, await client.call('POST', pathOf['deployments'] ?? '', { body: workload }));
    await waitUntil('its policies are in force', async () =>
      [await create(asShipped), await patch({ spec: { replicas: 9 } })].every(({ code }) => code === 403),
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

  function create(headers: Readonly<Record<string, string>>, query: { readonly dryRun?: string } = {}): Promise<Reply> {
    return api().call('POST', path, { body: pod, headers, query });
  }

  function patch(body: object): Promise<Reply> {
    const headers = { ...asAccount, 'content-type': 'application/merge-patch+json' };
    return api().call('PATCH', `${pathOf['deployments'] ?? ''}/web`, { body, headers, query: { dryRun: 'All' } });
  }

  it('lets it ask', async () => {
    expect(await create(asShipped, { dryRun: 'All' })).toMatchObject({ code: 201 });
  });

  it.each([
    { rights: 'the rights that it ships with', headers: asShipped },
    { rights: 'every right', headers: asAccount },
  ])('lets it create no pod with $rights', async ({ headers }) => {
    const { code, body } = await create(headers);

    expect([code, body.message]).toEqual([403, expect.stringContaining('istio-rollout is confined')]);
  });

  it('lets others create pods', async () => {
    expect((await create({})).code).toBe(201);
  });

  it('confines what it changes of workloads as ever', async () => {
    const refused = await patch({ spec: { replicas: 9 } });
    const passed = await patch({ spec: { template: { metadata: { annotations: { [restart]: at } } } } });

    expect([refused.code, passed.code]).toEqual([403, 200]);
  });
});

async function installPolicy(client: Client, environment: Environment = {}): Promise<void> {
  for (const manifest of installationOf(shipped.definition, environment)) {
    if (manifest.kind.startsWith('ValidatingAdmissionPolicy')) {
      await applyManifest(client, manifest);
    }
  }
}

function headOf(plural: string): object {
  return plural === 'rollouts' ? { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' } : {};
}
