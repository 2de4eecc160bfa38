import { join } from 'node:path';
import nodeAffinityMutate from '../../index.ts';
import { managedLabels, pool, poolKey } from '../../testing/pods.ts';
import { createClient, type Body, type Client, type Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import { startCluster, type Cluster } from '../../../../test/real/parts/cluster.ts';
import {
  installRights,
  startFunction,
  type RealFunction,
  type Shipped,
} from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { addNodes } from '../../../../test/real/parts/nodes.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import {
  registerWebhooks,
  unregisterWebhooks,
  webhookPort,
  webhookSettings,
} from '../../../../test/real/support/webhook.ts';

export const shipped: Shipped = {
  definition: nodeAffinityMutate,
  folder: join(import.meta.dirname, '../..'),
};

/** node-affinity-mutate as it ships, on a real control plane with one node in the pool and two outside. */
export interface AffinitySite extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly startWebhook: () => Promise<RealFunction>;
  /** Each process of the events half has a port of its own: a kept connection leads nowhere after a change. */
  readonly startEvents: (port: number, environment?: Readonly<Record<string, string>>) => Promise<RealFunction>;
  readonly tick: (events: RealFunction) => Promise<number>;
  /** Registers the webhook, or takes it away again. */
  readonly register: () => Promise<void>;
  readonly unregister: () => Promise<void>;
  /** Whether somebody now gives new pods the preference. */
  readonly untilPreferred: (expected: boolean) => Promise<void>;
  readonly createPod: (pod: PodOptions) => Promise<Reply>;
}

export interface PodOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly spec?: object;
  readonly metadata?: object;
  readonly dryRun?: boolean;
}

/** Where the function looks at pods, and where it does not. */
export const managed = 'managed';
export const unmanaged = 'unmanaged';

export async function openAffinitySite(): Promise<AffinitySite> {
  const running = new AsyncDisposableStack();
  const cluster = running.use(await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] }));
  const client = running.adopt(createClient(cluster.access), ({ close }) => close());
  const tlsPort = webhookPort(cluster);
  await installRights(cluster, shipped);
  await addNodes(cluster, ['outside-1', 'outside-2', 'pool-1']);
  await label(client, '/api/v1/nodes/pool-1', { [poolKey]: pool });
  for (const [name, labels] of [
    [managed, managedLabels],
    [unmanaged, {}],
  ] as const) {
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    await waitUntil(`the account of ${name}`, async () => {
      const { code } = await client.call('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`);
      return code === 200;
    });
  }

  function createPod(pod: PodOptions): Promise<Reply> {
    const body = {
      metadata: { name: pod.name, ...pod.metadata },
      spec: { containers: [{ name: 'main', image: 'nginx' }], ...pod.spec },
    };
    return client.call('POST', `/api/v1/namespaces/${pod.namespace ?? managed}/pods`, {
      body,
      query: pod.dryRun === true ? { dryRun: 'All' } : {},
    });
  }

  return {
    cluster,
    client,
    createPod,
    startWebhook: () =>
      startFunction(cluster, shipped, {
        port: 0,
        part: 'webhook',
        environment: { ...webhookSettings(tlsPort), REFRESH_SECONDS: '1' },
      }),
    startEvents: (port, environment = {}) => startFunction(cluster, shipped, { port, environment }),
    tick: async ({ url }) => (await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status,
    register: () => registerWebhooks(client, nodeAffinityMutate, tlsPort),
    unregister: () => unregisterWebhooks(client, nodeAffinityMutate),
    untilPreferred: (expected) =>
      waitUntil(`preferred: ${String(expected)}`, async () => {
        const { body } = await createPod({ name: 'probe', dryRun: true });
        return (affinityOf(body) !== undefined) === expected;
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The affinity of a pod as the API server prints it. */
export function affinityOf({ spec }: Body): string | undefined {
  const { affinity } = spec ?? {};
  return affinity === undefined ? undefined : JSON.stringify(affinity);
}

async function label(client: Client, path: string, labels: object): Promise<void> {
  const body = { metadata: { labels } };
  expectCode(
    200,
    await client.call('PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } }),
  );
}
