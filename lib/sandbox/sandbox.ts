import { randomBytes } from 'node:crypto';
import { assemble } from './assemble.ts';
import { authenticate, authenticatePlain } from './access/authenticate.ts';
import { bootstrap } from './lifecycle/bootstrap.ts';
import { sharedCertificates } from './http/certificates.ts';
import { systemClock } from './model/clock.ts';
import { startControllers } from './controllers/start.ts';
import { createFaults, type Faults } from './server/faults.ts';
import { startGarbageCollector } from './lifecycle/garbage.ts';
import type { Clock, InternalApi } from './model/internal.ts';
import { type Kubeconfig, kubeconfigFor } from './http/kubeconfig.ts';
import { type Listener, listenPlain, listenTls } from './http/listener.ts';
import { startNamespaces } from './lifecycle/namespaces.ts';
import { present } from './model/present.ts';
import { serveDefinitions } from './lifecycle/serve-definitions.ts';
import { createHandler } from './server/server.ts';

export interface SandboxOptions {
  /** Of the TLS listener; 0 takes a free one. */
  readonly port?: number;
  /** Of the listener without TLS, which makes everybody the administrator. */
  readonly httpPort?: number;
  /** Enforces Roles and ClusterRoles. */
  readonly rbac?: boolean;
  /** How long pods take to become ready. */
  readonly podReadyMs?: number;
  readonly clock?: Clock;
  /** False leaves objects alone: no rollouts, no garbage collection, no namespace deletion. */
  readonly controllers?: boolean;
  /** How many nodes there are from the start; default 3, none without controllers. */
  readonly nodes?: number;
  /** How many changes of each kind a watch can surely resume over. */
  readonly historyLimit?: number;
}

/** A running API server with what a client needs to reach it. */
export interface Sandbox {
  readonly url: string;
  readonly httpUrl: string;
  readonly ca: string;
  readonly adminToken: string;
  readonly kubeconfig: Kubeconfig;
  readonly faults: Faults;
  /** The objects without HTTP, for tests and for filling in samples. */
  readonly api: InternalApi;
  /** Forgets old revisions, as etcd does every few minutes: older watches and pages get 410. */
  compact(): void;
  close(): Promise<void>;
}

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Starts an API server in this process. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = systemClock, rbac = false, port = 0, httpPort = 0 } = options;
  const { historyLimit, podReadyMs, controllers: hasControllers = true } = options;
  const assembled = assemble({ clock, rbac, ...present({ historyLimit }) });
  const { cluster, api, definitions } = assembled;
  const [certificates] = await Promise.all([
    sharedCertificates(),
    bootstrap(api, options.nodes ?? (hasControllers ? 3 : 0)),
  ]);
  const stops = [
    serveDefinitions({ api, kinds: cluster.kinds, objectMeta: cluster.schemas.of(objectMeta) }),
    ...(hasControllers
      ? [
          startNamespaces(api, certificates.ca),
          startGarbageCollector(api),
          startControllers(api, present({ podReadyMs })),
        ]
      : []),
  ];
  const faults = createFaults();
  const adminToken = randomBytes(24).toString('base64url');
  const ending = new AbortController();
  const server = { cluster, definitions, faults, signal: ending.signal };
  const identity = { adminToken, tokens: cluster.tokens, allowsAnonymous: rbac };
  const [tls, plain] = await listenBoth([
    listenTls(
      port,
      certificates,
      createHandler({ ...server, authenticate: (headers) => authenticate(headers, identity) }),
    ),
    listenPlain(
      httpPort,
      createHandler({ ...server, authenticate: (headers) => authenticatePlain(headers, identity) }),
    ),
  ]);
  return {
    url: tls.url,
    httpUrl: plain.url,
    ca: certificates.ca,
    adminToken,
    kubeconfig: kubeconfigFor({ server: tls.url, ca: certificates.ca, token: adminToken }),
    faults,
    api,
    compact: () => cluster.store.compact(),
    async close() {
      ending.abort();
      stops.forEach((stop) => stop());
      assembled.close();
      await Promise.all([tls.close(), plain.close()]);
    },
  };
}

/** Both or none: a taken port leaves nothing open. */
async function listenBoth(
  listeners: readonly [Promise<Listener>, Promise<Listener>],
): Promise<readonly [Listener, Listener]> {
  try {
    return await Promise.all(listeners);
  } catch (error) {
    for (const outcome of await Promise.allSettled(listeners)) {
      if (outcome.status === 'fulfilled') {
        await outcome.value.close();
      }
    }
    throw error;
  }
}
