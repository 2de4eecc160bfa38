import { afterAll, beforeAll } from '@jest/globals';
import { createClient, type Body, type Call, type Client, type Method, type Reply, type Target } from './client.ts';
import { until } from './watching.ts';

const groups: Readonly<Record<string, string>> = {
  configmaps: 'api/v1',
  secrets: 'api/v1',
  services: 'api/v1',
  serviceaccounts: 'api/v1',
  pods: 'api/v1',
  events: 'api/v1',
  deployments: 'apis/apps/v1',
  replicasets: 'apis/apps/v1',
  statefulsets: 'apis/apps/v1',
  daemonsets: 'apis/apps/v1',
  jobs: 'apis/batch/v1',
  cronjobs: 'apis/batch/v1',
  ingresses: 'apis/networking.k8s.io/v1',
  roles: 'apis/rbac.authorization.k8s.io/v1',
  rolebindings: 'apis/rbac.authorization.k8s.io/v1',
  leases: 'apis/coordination.k8s.io/v1',
  poddisruptionbudgets: 'apis/policy/v1',
};

/** A namespace of the suite's own and short ways to speak to it. */
export interface Scratch {
  readonly client: Client;
  readonly namespace: string;
  /** `/api/v1/namespaces/<scratch>/<plural>[/<name>[/<subresource>]]` of a built-in kind. */
  readonly path: (plural: string, name?: string, subresource?: string) => string;
  readonly call: (method: Method, path: string, call?: Call) => Promise<Reply>;
  /** Creates and expects 201. */
  readonly create: (plural: string, object: object, call?: Omit<Call, 'body'>) => Promise<Body>;
  /** Reads and expects 200. */
  readonly get: (plural: string, name: string) => Promise<Body>;
  readonly patch: (type: PatchType, path: string, body: unknown, query?: Call['query']) => Promise<Reply>;
  /** Resolves once an object of the kind satisfies the condition. */
  readonly until: (plural: string, name: string, condition: (object: Body) => boolean) => Promise<Body>;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export type PatchType = keyof typeof patchTypes;

let count = 0;

export interface ScratchOptions {
  /** Waits for the objects that every namespace gets a moment after it is made: pods need them, counts include them. */
  readonly settled?: boolean;
}

/** Registers a namespace that lives as long as the surrounding `describe`. */
export function useScratch(target: () => Target, { settled = false }: ScratchOptions = {}): () => Scratch {
  let scratch: Scratch | undefined;
  beforeAll(async () => {
    scratch = await openScratch(createClient(target()));
    if (settled) {
      await scratch.until('serviceaccounts', 'default', () => true);
      await scratch.until('configmaps', 'kube-root-ca.crt', () => true);
    }
  });
  afterAll(async () => {
    await scratch?.call('DELETE', `/api/v1/namespaces/${scratch.namespace}`);
    scratch?.client.close();
  });
  return () => {
    if (scratch === undefined) {
      throw new Error('a scratch namespace is only there inside a test');
    }
    return scratch;
  };
}

async function openScratch(client: Client): Promise<Scratch> {
  const namespace = uniqueName('scratch');
  const made = await client.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  if (made.code !== 201) {
    throw new Error(`create namespace ${namespace}: ${String(made.code)} ${made.text}`);
  }
  function path(plural: string, name?: string, subresource?: string): string {
    const parts = [groups[plural], 'namespaces', namespace, plural, name, subresource];
    return `/${parts.filter((part) => part !== undefined).join('/')}`;
  }
  async function create(plural: string, object: object, call: Omit<Call, 'body'> = {}): Promise<Body> {
    return expectCode(201, await client.call('POST', path(plural), { ...call, body: object }));
  }
  async function get(plural: string, name: string): Promise<Body> {
    return expectCode(200, await client.call('GET', path(plural, name)));
  }
  return {
    client,
    namespace,
    path,
    create,
    get,
    call: client.call,
    patch: (type, path, body, query = {}) =>
      client.call('PATCH', path, { body, query, headers: { 'content-type': patchTypes[type] } }),
    until: (plural, name, condition) => until(client, path(plural), name, condition),
  };
}

/** The body of a reply that must have this code; the error of another one shows what the server said. */
export function expectCode(code: number, reply: Reply): Body {
  if (reply.code !== code) {
    throw new Error(`expected ${String(code)}, got ${String(reply.code)}: ${reply.text}`);
  }
  return reply.body;
}

/** A name that no other case and no other run on the same server uses. */
export function uniqueName(prefix: string): string {
  count += 1;
  return `${prefix}-${process.pid.toString(36)}-${Date.now().toString(36)}-${count.toString(36)}`;
}
