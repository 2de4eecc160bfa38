import { join } from 'node:path';
import type { Manifest } from '../../../../lib/kube/model/manifest.ts';
import freezeCheck from '../../index.ts';
import {
  createClient,
  type Body,
  type Call,
  type Client,
  type Method,
  type Reply,
} from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../../../../test/real/parts/cluster.ts';
import {
  installRights,
  startFunction,
  type FunctionOptions,
  type RealFunction,
  type Shipped,
} from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { registerWebhooks, webhookPort, webhookSettings } from '../../../../test/real/support/webhook.ts';

export const shipped: Shipped = {
  definition: freezeCheck,
  folder: join(import.meta.dirname, '../..'),
};

/** Whom the API server takes a request for. */
export interface Person {
  readonly user: string;
  readonly groups?: readonly string[];
}

type Settings = Readonly<Record<string, string>>;
type EventsOptions = Pick<FunctionOptions, 'server' | 'environment'>;

/** freeze-check as it ships, on a real API server with its controllers. */
export interface FreezeSite extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  /** A request by somebody else than the administrator. */
  readonly as: (person: Person, method: Method, path: string, call?: Call) => Promise<Reply>;
  readonly merge: (path: string, body: object, person?: Person) => Promise<Reply>;
  readonly freeze: (name: string, spec?: object) => Promise<Body>;
  readonly remove: (path: string) => Promise<void>;
  /** Removes all of them, of every kind. */
  readonly removePolicies: () => Promise<void>;
  readonly startWebhook: (environment?: Settings) => Promise<RealFunction>;
  readonly startEvents: (port: number, options?: EventsOptions) => Promise<RealFunction>;
  readonly tick: (events: RealFunction) => Promise<number>;
  readonly configure: () => Promise<void>;
}

export const policies = '/apis/freeze-operator.io/v1alpha1';

export async function openFreezeSite({ parts }: Pick<ClusterOptions, 'parts'> = {}): Promise<FreezeSite> {
  const running = new AsyncDisposableStack();
  const cluster = running.use(await startCluster({ parts: parts ?? ['kube-controller-manager'] }));
  const client = running.adopt(createClient(cluster.access), ({ close }) => close());
  const tlsPort = webhookPort(cluster);

  function as({ user, groups = [] }: Person, method: Method, path: string, call: Call = {}): Promise<Reply> {
    const impersonation = {
      'impersonate-user': user,
      'impersonate-group': [...groups, 'system:authenticated', 'changers'],
    };
    return client.call(method, path, { ...call, headers: { ...call.headers, ...impersonation } });
  }

  await installRights(cluster, shipped);
  for (const kind of freezeCheck.kinds ?? []) {
    await applyManifest(client, kind);
  }
  await waitUntil(
    'the policies are served',
    async () => (await client.call('GET', `${policies}/changefreezes`)).code === 200,
  );
  await applyManifest(client, bindingOf('changers'));

  return {
    cluster,
    client,
    as,
    merge: (path, body, person = { user: 'dev@x' }) =>
      as(person, 'PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } }),
    freeze: async (name, spec = {}) =>
      expectCode(201, await client.call('POST', `${policies}/changefreezes`, { body: freezeNamed(name, spec) })),
    remove: async (path) => {
      expectCode(200, await client.call('DELETE', path));
    },
    removePolicies: async () => {
      for (const plural of ['changefreezes', 'maintenancewindows', 'freezeexceptions']) {
        await client.call('DELETE', `${policies}/${plural}`);
      }
    },
    startWebhook: (environment = {}) =>
      startFunction(cluster, shipped, {
        port: 0,
        part: 'webhook',
        environment: { ...webhookSettings(tlsPort), POLICY_MAX_AGE: '0s', ...environment },
      }),
    startEvents: (port, options = {}) => startFunction(cluster, shipped, { port, ...options }),
    tick: async ({ url }) => (await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status,
    configure: () => registerWebhooks(client, freezeCheck, tlsPort),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A freeze of Deployments in `env=prod` that is on for the life of the suite. */
export function freezeNamed(name: string, spec: object): object {
  return {
    apiVersion: 'freeze-operator.io/v1alpha1',
    kind: 'ChangeFreeze',
    metadata: { name },
    spec: {
      startTime: '2020-01-01T00:00:00Z',
      endTime: '2099-01-01T00:00:00Z',
      target: { kinds: ['Deployment'], namespaceSelector: { matchLabels: { env: 'prod' } } },
      rules: { deny: ['ROLL_OUT'] },
      message: { reason: 'Holiday change freeze', contact: '#platform-oncall' },
      ...spec,
    },
  };
}

/** Everybody in the group may do everything: what is refused, the webhook refuses. */
function bindingOf(group: string): Manifest {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: group },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  };
}
