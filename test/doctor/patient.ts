import { pino } from 'pino';
import { examineFunction } from '../../lib/install/doctor/examine.ts';
import type { Finding } from '../../lib/runtime/doctor/finding.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { createKube, type Kube } from '../../lib/kube/client.ts';
import { createTransport, type Answer, type Request, type Transport } from '../../lib/kube/transport.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import definition from '../functions/host-census/index.ts';
import { resourceOf } from './installation.ts';

const { namespace } = standardInstallation;

/** A cluster with an installation of the sample function, to be spoilt and looked at. */
export interface Cluster extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly kube: Kube;
  readonly apply: (object: Manifest, subresource?: 'status') => Promise<void>;
  readonly remove: (manifest: Manifest) => Promise<void>;
  /** Warnings and errors of the doctor, who is the admin or somebody else. */
  readonly problems: () => Promise<Finding[]>;
  readonly findings: (looking?: Looking) => Promise<readonly Finding[]>;
}

export interface Looking {
  /** What the clock of whoever looks shows. Default: the truth. */
  readonly now?: Date;
  /** Who looks. Default: the admin. */
  readonly user?: string;
  /** What each pod would answer to whoever asks for its metrics through the API server, or who is asked in its place. */
  readonly metrics?: Readonly<Record<string, string | Transport['send']>>;
  /** Lists of this kind are answered so, where the sandbox writes them differently from a real API server. */
  readonly list?: { readonly plural: string; readonly items: readonly object[] };
}

export async function openCluster(): Promise<Cluster> {
  const sandbox = await startSandbox({ rbac: true, controllers: false });
  const transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
  const kube = kubeBy(transport);

  async function apply(object: Manifest, subresource?: 'status'): Promise<void> {
    const step = { do: 'apply', resource: resourceOf(object), object: object as KubeObject, why: 'test' } as const;
    await kube.run({ steps: [{ ...step, force: true, ...(subresource === undefined ? {} : { subresource }) }] });
  }

  async function remove(manifest: Manifest): Promise<void> {
    const resource = resourceOf(manifest);
    const { name, namespace: place } = manifest.metadata;
    const { metadata } = (await kube.get(resource, manifest.metadata)) ?? {};
    const target = { resource, name, ...(place === undefined ? {} : { namespace: place }) };
    await kube.run({ steps: [{ do: 'delete', ...target, uid: metadata?.uid ?? '', why: 'test' }] });
  }

  async function findings({ now = new Date(), user, metrics = {}, list }: Looking = {}): Promise<readonly Finding[]> {
    const asked = user === undefined ? transport : createTransport(actingAs(user, sandbox));
    const looking = withMetrics(asked, metrics);
    const listing = list === undefined ? asked : withList(asked, list);
    try {
      return await examineFunction(definition, { kube: kubeBy(listing), transport: looking, namespace, now });
    } finally {
      if (asked !== transport) {
        asked.close();
      }
    }
  }

  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return {
    sandbox,
    kube,
    apply,
    remove,
    findings,
    problems: async () => (await findings()).filter(({ state }) => state === 'warning' || state === 'error'),
    async [Symbol.asyncDispose]() {
      transport.close();
      await sandbox.close();
    },
  };
}

function kubeBy(transport: Transport): Kube {
  const log = pino({ level: 'silent' });
  return createKube({ transport, log, fieldManager: 'test', now: () => new Date() });
}

function actingAs(user: string, { kubeconfig }: Sandbox): ReturnType<typeof kubeconfigAccess> {
  const access = kubeconfigAccess(JSON.stringify(kubeconfig));
  return async () => {
    const reach = await access();
    return { ...reach, headers: { ...reach.headers, 'impersonate-user': user } };
  };
}

/** The sandbox has no pods behind its API; whoever asks one for its metrics is answered here. */
function withMetrics(transport: Transport, metrics: NonNullable<Looking['metrics']>): Transport {
  return {
    ...transport,
    send: async (request: Request): Promise<Answer> => {
      const [, pod = ''] = /\/pods\/([^/:]+):8080\/proxy\/metrics$/.exec(request.path) ?? [];
      const body = metrics[pod];
      if (typeof body === 'function') {
        return body(request);
      }
      return body === undefined ? transport.send(request) : answerWith(body);
    },
  };
}

function withList(transport: Transport, { plural, items }: NonNullable<Looking['list']>): Transport {
  const body = JSON.stringify({ metadata: {}, items });
  return {
    ...transport,
    send: (request) =>
      new RegExp(`/${plural}(\\?|$)`).test(request.path) ? Promise.resolve(answerWith(body)) : transport.send(request),
  };
}

function answerWith(body: string): Answer {
  return { status: 200, headers: {}, body, bytes: Buffer.from(body), sentBytes: 0, receivedBytes: body.length };
}
