import type { Definition } from '../../lib/function/definition.ts';
import { partName } from '../../lib/function/names.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { kubeconfigAccess, type Access } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { apiVersion, type Resource } from '../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { pathOf } from '../../lib/kube/path.ts';
import type { Left } from '../../lib/install/release/leave.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { kubeconfigFor } from '../../lib/sandbox/http/kubeconfig.ts';
import { createClient, type Client } from '../../lib/sandbox/test/contract/client.ts';
import { installRights, tokenOf } from './account.ts';
import { openBackend, type Backend } from './backend.ts';
import { binaryEvent, send, startApp } from './http.ts';
import { leaveBy } from './leaving.ts';
import { applyManifest, type AnyManifest } from './manifests.ts';

/**
 * A cluster for one suite: the sandbox, or a real API server under `npm run test:real`. A suite written against it runs
 * on both.
 */
export interface World {
  readonly backend: Backend['name'];
  /** A client with the rights of an administrator. */
  readonly client: Client;
  /** Makes the object exactly as given, as `kubectl apply --server-side` does. */
  readonly apply: <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<T>;
  readonly get: <T extends KubeObject>(resource: Resource<T>, place: Place) => Promise<T | undefined>;
  readonly remove: (resource: Resource, place: Place) => Promise<void>;
  /** Starts the events role of a function under its shipped account, with exactly the rights that it ships with. */
  readonly start: (definition: Definition, options?: StartOptions) => Promise<Replica>;
  /** Takes a function out of the cluster, as `npm run release` does, with its settings. */
  readonly leave: (definition: Definition, environment?: Readonly<Record<string, string>>) => Promise<Left>;
  readonly close: () => Promise<void>;
}

export interface Place {
  readonly name: string;
  readonly namespace?: string;
}

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => Date;
}

/** One process of a function. */
export interface Replica {
  readonly app: Running;
  /** Every call that it made to the API server so far. */
  readonly calls: readonly Call[];
  /** Sends a tick and returns the status of the answer. */
  readonly tick: () => Promise<number>;
  /** Sends an event about an object and returns the status of the answer. */
  readonly event: (change: 'add' | 'update' | 'delete', resource: Resource, place: Place) => Promise<number>;
  /** The parsed answer of a route. */
  readonly read: (path: string) => Promise<unknown>;
}

export const { namespace: ownNamespace } = standardInstallation;

export async function openWorld(): Promise<World> {
  const backend = await openBackend();
  const client = createClient(backend.access);
  const opened: Running[] = [];

  async function start(definition: Definition, { environment = {}, now }: StartOptions = {}): Promise<Replica> {
    await installRights(client, definition, environment);
    const calls: Call[] = [];
    const app = await startApp(definition, {
      access: await accountAccess(backend, client, partName(definition.name, 'events')),
      environment: {
        ...renderFunction(definition).placeholders,
        ROLE: 'events',
        POD_NAMESPACE: ownNamespace,
        ...environment,
      },
      observe: (call) => calls.push(call),
      ...(now === undefined ? {} : { now }),
    });
    opened.push(app);
    return replicaAt(app, calls);
  }

  return {
    backend: backend.name,
    client,
    start,
    apply: (resource, object) => applyAt(client, resource, object),
    get: (resource, place) => getAt(client, resource, place),
    remove: async (resource, place) => {
      await client.call('DELETE', pathOf(resource, place));
    },
    leave: (definition, environment = {}) =>
      leaveBy(accessBy(backend, backend.access.token), definition, {
        environment: { ...renderFunction(definition).placeholders, ...environment },
      }),
    close: async () => {
      await Promise.all(opened.map((app) => app.close()));
      client.close();
      await backend.close();
    },
  };
}

function replicaAt(app: Running, calls: readonly Call[]): Replica {
  async function post(event: Parameters<typeof binaryEvent>[0]): Promise<number> {
    return (await send(app.url, binaryEvent(event))).status;
  }
  return {
    app,
    calls,
    tick: () => post({ type: 'dev.knative.sources.ping' }),
    event: (change, resource, place) =>
      post({
        type: `dev.knative.apiserver.ref.${change}`,
        apiVersion: apiVersion(resource),
        kind: resource.kind,
        ...place,
      }),
    read: async (path) => JSON.parse((await send(app.url, { method: 'GET', path })).body) as unknown,
  };
}

async function accountAccess(backend: Backend, client: Client, name: string): Promise<Access> {
  return accessBy(backend, await tokenOf(client, { name, namespace: ownNamespace }));
}

function accessBy({ access: { url, ca } }: Backend, token: string): Access {
  return kubeconfigAccess(JSON.stringify(kubeconfigFor({ server: url, ca, token })));
}

async function applyAt<T extends KubeObject>(client: Client, resource: Resource<T>, object: T): Promise<T> {
  const { name = '', ...metadata } = object.metadata ?? {};
  const manifest = {
    ...object,
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    metadata: { name, ...metadata },
  };
  return (await applyManifest(client, manifest as AnyManifest)) as T;
}

async function getAt<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  place: Place,
): Promise<T | undefined> {
  const { code, body } = await client.call('GET', pathOf(resource, place));
  return code === 404 ? undefined : (body as T);
}
