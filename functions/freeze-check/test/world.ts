import { kubeconfigAccess, type Access } from '../../../lib/kube/access.ts';
import type { Call } from '../../../lib/kube/client.ts';
import { apiVersion, customResourceDefinitions, namespaces, type Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { kubeconfigFor } from '../../../lib/sandbox/http/kubeconfig.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { binaryEvent, send, startApp } from '../../../test/support/http.ts';
import freezeCheck from '../index.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows } from '../policy.ts';

/** A cluster with the kinds that freeze-check knows, a clock to turn, and replicas of the function. */
export interface World {
  readonly sandbox: Sandbox;
  readonly now: () => Date;
  /** Turns the clock of all replicas. */
  readonly turnTo: (time: string) => void;
  readonly create: <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<T>;
  readonly get: <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string) => T;
  /** Changes an object as its owner would. */
  readonly edit: <T extends KubeObject>(
    resource: Resource<T>,
    place: { readonly name: string; readonly namespace?: string },
    change: (object: T) => T,
  ) => Promise<T>;
  readonly remove: (resource: Resource, name: string, namespace?: string) => Promise<void>;
  /** Gives a group rights, where they count. */
  readonly grant: (group: string, rules: readonly object[]) => Promise<void>;
  /** A process of the function, with a name of its own at the API server. */
  readonly replica: (options?: ReplicaOptions) => Promise<Replica>;
  /** How often each object of the kind has been written since this call. */
  readonly countWrites: (resource: Resource) => ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

export interface ReplicaOptions {
  readonly name?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly observe?: (call: Call) => void;
  /** Makes it listen for reviews. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Goes by the time of the machine instead of the clock that tests turn. */
  readonly followsTime?: boolean;
}

export interface Replica {
  readonly user: string;
  readonly app: Running;
  /** The status of the answer. */
  readonly tick: () => Promise<number>;
  readonly tell: (change: 'add' | 'update' | 'delete', resource: Resource, place: KubeObject) => Promise<number>;
  /** Nothing it sends reaches the cluster any more. */
  readonly die: () => void;
  readonly close: () => Promise<void>;
}

export interface WorldOptions {
  /** What the clock shows at first. */
  readonly at: string;
  /** Kinds of others that are installed besides the policies. */
  readonly kinds?: readonly Resource[];
  /** Rights count; replicas have all of them. */
  readonly rbac?: boolean;
  /** The kinds of the policies let anything in, as those of somebody else may. */
  readonly lax?: boolean;
}

export async function openWorld({ at, kinds = [], rbac = false, lax = false }: WorldOptions): Promise<World> {
  const sandbox = await startSandbox({ controllers: false, rbac });
  const { api } = sandbox;
  const opened: Replica[] = [];
  let time = new Date(at);
  const policies = lax
    ? [changeFreezes, maintenanceWindows, freezeExceptions].map(definitionOf)
    : (freezeCheck.kinds ?? []);
  const definitions: readonly KubeObject[] = [...policies, ...kinds.map(definitionOf)];
  for (const definition of definitions) {
    await api.create(customResourceDefinitions, definition);
  }
  await until(
    () => definitions.every(({ metadata }) => isServed(sandbox, metadata?.name ?? '')),
    'the kinds are served',
  );
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-reflex' } });
  if (rbac) {
    await grantRights(sandbox, 'system:serviceaccounts:kube-reflex', [everyRight]);
  }

  function get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): T {
    const found = api.get(resource, name, namespace);
    if (found === undefined) {
      throw new Error(`there is no ${resource.kind} ${name}`);
    }
    return found as T;
  }

  async function replica(options: ReplicaOptions = {}): Promise<Replica> {
    const { name = 'replica', environment = {}, observe, tls, followsTime = false } = options;
    const access = await accountOf(sandbox, name);
    const app = await startApp(freezeCheck, {
      access,
      environment: { POD_NAMESPACE: 'kube-reflex', ...environment },
      now: () => (followsTime ? new Date() : time),
      ...(observe === undefined ? {} : { observe }),
      ...(tls === undefined ? {} : { tls }),
    });
    const user = `system:serviceaccount:kube-reflex:${name}`;
    const started = replicaAt({ app, user, sandbox });
    opened.push(started);
    return started;
  }

  return {
    sandbox,
    get,
    replica,
    grant: (group, rules) => grantRights(sandbox, group, rules),
    now: () => time,
    turnTo: (text) => {
      time = new Date(text);
    },
    create: async (resource, object) => (await api.create(resource, complete(resource, object))) as typeof object,
    edit: async (resource, { name, namespace }, change) =>
      (await api.update(resource, change(structuredClone(get(resource, name, namespace))))) as ReturnType<
        typeof change
      >,
    remove: (resource, name, namespace) =>
      api.remove(resource, { name, ...(namespace === undefined ? {} : { namespace }) }),
    countWrites: (resource) => {
      const counts = new Map<string, number>();
      api.subscribe(resource, ({ object: { metadata } }) => {
        const name = metadata?.name ?? '';
        counts.set(name, (counts.get(name) ?? 0) + 1);
      });
      return counts;
    },
    close: async () => {
      await Promise.all(opened.map(({ close }) => close()));
      await sandbox.close();
    },
  };
}

const everyRight = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const rbacGroup = 'rbac.authorization.k8s.io';
const clusterRoles: Resource = clusterWide('ClusterRole', 'clusterroles');
const clusterRoleBindings: Resource = clusterWide('ClusterRoleBinding', 'clusterrolebindings');

function clusterWide(kind: string, plural: string): Resource {
  return { group: rbacGroup, version: 'v1', kind, plural, namespaced: false };
}

async function grantRights({ api }: Sandbox, group: string, rules: readonly object[]): Promise<void> {
  const metadata = { name: `rights-of-${group}` };
  const role: KubeObject = complete(clusterRoles, { metadata, rules } as KubeObject);
  const binding = {
    metadata,
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: group }],
  } as KubeObject;
  await api.create(clusterRoles, role);
  await api.create(clusterRoleBindings, complete(clusterRoleBindings, binding));
}

function isServed({ api }: Sandbox, name: string): boolean {
  return api.kinds().some(({ group, plural }) => `${plural}.${group}` === name);
}

function complete<T extends KubeObject>(resource: Resource, object: T): T {
  return { apiVersion: apiVersion(resource), kind: resource.kind, ...object };
}

function replicaAt({ app, user, sandbox }: { app: Running; user: string; sandbox: Sandbox }): Replica {
  async function post(event: Parameters<typeof binaryEvent>[0]): Promise<number> {
    return (await send(app.url, binaryEvent(event))).status;
  }
  return {
    app,
    user,
    tick: () => post({ type: 'dev.knative.sources.ping' }),
    tell: (change, resource, { metadata }) =>
      post({
        type: `dev.knative.apiserver.ref.${change}`,
        apiVersion: apiVersion(resource),
        kind: resource.kind,
        name: metadata?.name ?? '',
        namespace: metadata?.namespace ?? '',
      }),
    die: () => sandbox.faults.add({ user, effect: { do: 'cut', when: 'before' } }),
    close: () => app.close(),
  };
}

/** The cluster as a ServiceAccount of its own sees it: the sandbox knows replicas apart by their names. */
async function accountOf(sandbox: Sandbox, name: string): Promise<Access> {
  const accounts = '/api/v1/namespaces/kube-reflex/serviceaccounts';
  await post(sandbox, accounts, { metadata: { name } });
  const { status } = (await post(sandbox, `${accounts}/${name}/token`, { spec: {} })) as { status: { token: string } };
  const config = kubeconfigFor({ server: sandbox.url, ca: sandbox.ca, token: status.token });
  return kubeconfigAccess(JSON.stringify(config));
}

async function post({ httpUrl }: Sandbox, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(new URL(path, httpUrl), { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

/** A custom kind of free form, as far as freeze-check cares. */
export function definitionOf({ group, version, kind, plural, namespaced }: Resource): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
  return definition;
}

/** What an object says, but for what every write changes. */
export function lasting({ metadata, ...rest }: KubeObject): object {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...kept } = metadata ?? {};
  return { ...rest, metadata: kept };
}
