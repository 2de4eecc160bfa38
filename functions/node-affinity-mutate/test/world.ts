import https from 'node:https';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import type { Call } from '../../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces, nodes } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { webhookConfigurations } from '../../../lib/install/manifests/webhook.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import type { AdmissionResponse } from '../../../lib/kube/model/review.ts';
import { sharedCertificates } from '../../../lib/sandbox/http/certificates.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { binaryEvent, send, startApp, type AppOptions, type Received } from '../../../test/support/http.ts';
import { creating, managedLabels, podWith, pool, poolKey, settings } from '../testing/pods.ts';
import definition from '../index.ts';

/** The function at work on a sandbox cluster of its own, in the namespace `kube-reflex`. */
export interface World extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly app: Running;
  /** Signed what the admission listener shows. */
  readonly ca: string;
  /** Every call of the function to the API. */
  readonly calls: Call[];
  readonly tick: () => Promise<Received>;
  readonly tell: (kind: string, name: string, change?: string) => Promise<Received>;
  /** Sends a review as the API server does. */
  readonly ask: (request?: object, changes?: Asking) => Promise<Received>;
  /** What a bare pod is answered. */
  readonly decisionFor: (request?: object) => Promise<AdmissionResponse>;
  readonly addNode: (name: string, labels?: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly writeRules: (text: string) => Promise<unknown>;
  /** The data of the state ConfigMap. */
  readonly state: () => Readonly<Record<string, string>> | undefined;
  readonly metric: (name: string) => Promise<number | undefined>;
}

export interface Asking {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const namespace = 'kube-reflex';
const serviceAccounts = { group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' };
const json = { 'content-type': 'application/json' };

export async function openWorld({
  environment = {},
  subject = definition,
  ...options
}: Partial<AppOptions> & { readonly subject?: typeof definition } = {}): Promise<World> {
  const sandbox = await startSandbox({ controllers: false });
  const certificates = await sharedCertificates();
  const { certificate: cert, key } = certificates;
  const calls: Call[] = [];
  const agent = new https.Agent({ ca: certificates.ca, keepAlive: true });
  await create(sandbox, namespaces, { metadata: { name: namespace } });
  await create(sandbox, namespaces, { metadata: { name: 'shop', labels: managedLabels } });
  await create(sandbox, namespaces, { metadata: { name: 'team-x' } });
  for (const place of ['shop', 'team-x', 'default']) {
    await create(sandbox, serviceAccounts, { metadata: { name: 'default', namespace: place } });
  }
  const app = await startApp(subject, {
    access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
    tls: { cert, key },
    observe: (call) => calls.push(call),
    environment: { POOL_NAME: pool, POD_NAMESPACE: namespace, ...environment },
    ...options,
  });

  async function ask(request: object = creating(podWith()), { path = '/mutate', ...changes }: Asking = {}) {
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
    const url = new URL(path, app.tlsUrl);
    return send(url, { path, headers: json, body: JSON.stringify(review), agent, ...changes });
  }

  return {
    sandbox,
    app,
    ca: certificates.ca,
    calls,
    ask,
    tick: () => send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' })),
    tell: (kind, name, change = 'update') =>
      send(
        app.url,
        binaryEvent({
          type: `dev.knative.apiserver.ref.${change}`,
          apiVersion: 'v1',
          kind,
          name,
          ...(kind === 'ConfigMap' ? { namespace } : {}),
        }),
      ),
    decisionFor: async (request) => {
      const { status, body } = await ask(request);
      if (status !== 200) {
        throw new Error(`HTTP ${status}: ${body}`);
      }
      return (JSON.parse(body) as { response: AdmissionResponse }).response;
    },
    addNode: (name, labels = { [poolKey]: pool }) => create(sandbox, nodes, { metadata: { name, labels } }),
    writeRules: async (text) => {
      const object = { metadata: { name: 'node-affinity-mutate', namespace }, data: { 'rules.yaml': text } };
      const present = sandbox.api.get(configMaps, object.metadata.name, namespace);
      return present === undefined
        ? create(sandbox, configMaps, object)
        : sandbox.api.update(configMaps, { ...present, data: object.data } as KubeObject);
    },
    state: () => {
      const stored = sandbox.api.get(configMaps, 'node-affinity-mutate-state', namespace);
      return (stored as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data;
    },
    metric: (name) => metricOf(app.url, name),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await app.close();
      await sandbox.close();
    },
  };
}

function create(
  { api }: Sandbox,
  { group, plural, version, kind }: { group: string; plural: string; version: string; kind: string },
  object: KubeObject & Record<string, unknown>,
): Promise<KubeObject> {
  return api.create(
    { group, plural },
    {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      ...object,
    },
  );
}

async function metricOf(url: URL, name: string): Promise<number | undefined> {
  const { body } = await send(url, { method: 'GET', path: '/metrics' });
  const lines = body.split('\n').filter((line) => line.startsWith(`kube_reflex_node_affinity_mutate_${name}`));
  return lines.length === 0
    ? undefined
    : lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** The shipped configuration, called at this process instead of a Service. */
export async function installWebhook({ sandbox, app, ca }: World): Promise<void> {
  const admissions = definition.admit?.(settings(), standardInstallation) ?? [];
  for (const configuration of webhookConfigurations('node-affinity-mutate', admissions, standardInstallation)) {
    const webhooks = (configuration['webhooks'] as object[]).map((webhook) => ({
      ...webhook,
      clientConfig: { url: new URL('/mutate', app.tlsUrl).href, caBundle: Buffer.from(ca).toString('base64') },
    }));
    await sandbox.api.create(mutatingWebhooks, { ...configuration, webhooks } as KubeObject);
  }
}
