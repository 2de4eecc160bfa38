import { randomBytes } from 'node:crypto';
import { createWebhookClient } from '../review/call.ts';
import { createWebhookAdmission } from './admission.ts';
import { admitPod } from './admission-pods.ts';
import type { Admission } from './attributes.ts';
import { authenticate, type AuthenticateOptions, authenticatePlain } from './authenticate.ts';
import { createCertificates } from './certificates.ts';
import { systemClock } from './clock.ts';
import type { Cluster } from './cluster.ts';
import { startControllers } from './controllers/start.ts';
import { createFaults, type Faults } from './faults.ts';
import type { Clock, InternalApi } from './internal.ts';
import { createInternalApi } from './internal-api.ts';
import { builtInKinds, createKinds } from './kinds.ts';
import { type Kubeconfig, kubeconfigFor } from './kubeconfig.ts';
import { isLeftOut } from './left-out.ts';
import { listenPlain, listenTls } from './listener.ts';
import { assertNamespaceAccepts } from './namespace-lifecycle.ts';
import { createObjectRules } from './object-rules.ts';
import { present } from './present.ts';
import { allowAll, createAuthorizer } from './rbac.ts';
import { createSchemas } from './schema.ts';
import { readDefinitionTable, readKindTable } from './schema/tables.ts';
import { createHandler } from './server.ts';
import { notServed } from './status.ts';
import { createStore } from './store.ts';
import { createTokens } from './tokens.ts';

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

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = systemClock, rbac = false } = options;
  const definitions = readDefinitionTable();
  const schemas = createSchemas(definitions);
  const kinds = createKinds(builtInKinds(readKindTable(), schemas).filter((kind) => !isLeftOut(kind)));
  const store = createStore(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit });
  const api = createInternalApi({ kinds, store, clock }, () => cluster);
  const rules = createObjectRules();
  const webhooks = createWebhookClient();
  const tokens = createTokens({
    now: () => clock.now(),
    accountUid: (namespace, name) =>
      store.get({ group: '', plural: 'serviceaccounts' }, name, namespace)?.object.metadata?.uid,
  });
  const cluster: Cluster = {
    kinds,
    store,
    schemas,
    clock,
    rules,
    tokens,
    authorizer: rbac ? createAuthorizer(api) : allowAll,
    admission: withBuiltIn(
      api,
      createWebhookAdmission({
        api,
        client: webhooks,
        complete: (kind, object) => rules.complete(kind, object),
        evaluate: () => {
          throw notServed('match conditions');
        },
        equivalents: (kind) =>
          kinds.all().filter((other) => other.group === kind.group && other.plural === kind.plural),
      }),
    ),
    serveEviction: () => Promise.reject(notServed('evictions')),
  };
  const stopControllers =
    options.controllers === false ? undefined : startControllers(api, present({ podReadyMs: options.podReadyMs }));
  const faults = createFaults();
  const adminToken = randomBytes(24).toString('base64url');
  const ending = new AbortController();
  const identity: AuthenticateOptions = { adminToken, tokens, allowsAnonymous: rbac };
  const server = { cluster, definitions, faults, signal: ending.signal };
  const certificates = await createCertificates(clock.now());
  const tls = await listenTls(
    options.port ?? 0,
    certificates,
    createHandler({ ...server, authenticate: (headers) => authenticate(headers, identity) }),
  );
  const plain = await listenPlain(
    options.httpPort ?? 0,
    createHandler({ ...server, authenticate: (headers) => authenticatePlain(headers, identity) }),
  );
  return {
    url: tls.url,
    httpUrl: plain.url,
    ca: certificates.ca,
    adminToken,
    kubeconfig: kubeconfigFor({ server: tls.url, ca: certificates.ca, token: adminToken }),
    faults,
    api,
    compact: () => store.compact(),
    async close() {
      ending.abort();
      stopControllers?.();
      webhooks.close();
      await Promise.all([tls.close(), plain.close()]);
    },
  };
}

/** Webhooks come after what the API server decides by itself. */
function withBuiltIn(api: InternalApi, webhooks: Admission): Admission {
  return {
    mutate(attributes) {
      assertNamespaceAccepts(attributes, api);
      const object = admitPod(attributes, api);
      return webhooks.mutate(object === undefined ? attributes : { ...attributes, object });
    },
    validate: (attributes) => webhooks.validate(attributes),
  };
}
