import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { revisionWebhooks, tagWebhooks } from '../../sandbox/istio.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import type { Cluster } from '../../../../test/real/parts/cluster.ts';
import { readMetric } from '../../../../test/real/support/function.ts';
import { wouldInject } from './injection-oracle.ts';
import { applyManifest, pathOf, type AnyManifest } from '../../../../test/support/manifests.ts';
import { moduleFolder } from '../../../../test/real/parts/module-files.ts';
import type { Service } from '../../../../test/real/parts/ready.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';

export interface IstiodOptions {
  readonly revision: string;
  /** Tag of the proxy's image. */
  readonly tag: string;
  /** Which block of six ports, 0 to 3. */
  readonly slot: number;
  /** Injects native sidecars. */
  readonly native?: boolean;
  /** Beside those of the chart. */
  readonly templates?: Templates;
}

/** A control plane of one revision: its program and all that it reads and patches in the cluster. */
export interface Istiod {
  readonly revision: string;
  /** Gives it another proxy, as an upgrade of the control plane does, and templates beside those of the chart. */
  readonly configure: (tag: string, more?: Templates) => Promise<void>;
  /** Gives it values that nobody can read. */
  readonly confuse: () => Promise<void>;
  /** Waits until it injects that proxy. */
  readonly injects: (tag: string) => Promise<void>;
  /** Makes the revision tag lead here, by an update of its webhooks if it led elsewhere, as `istioctl tag set` does it. */
  readonly tagAs: (tag: string) => Promise<void>;
  /** Waits until its certificate authority, and nobody else's, is in its own webhooks. */
  readonly trusted: () => Promise<void>;
  /** How often it was asked to inject, as it says itself. */
  readonly asked: () => Promise<number>;
  readonly stop: () => Promise<void>;
  /** Again as it was, but for the way in which it injects. */
  readonly start: (way?: Pick<IstiodOptions, 'native'>) => Promise<void>;
}

/** Templates of pods, by the name that `inject.istio.io/templates` calls them. */
export type Templates = Readonly<Record<string, string>>;

const namespace = 'istio-system';
const firstPort = 30;
const portsEach = 6;
const monitoringStep = 4;
const chart = 'manifests/charts/istio-control/istio-discovery';
const templates = { sidecar: 'injection-template.yaml', gateway: 'gateway-injection-template.yaml' };

const hub = 'example.invalid/istio';

/** What it injects when it is configured with that tag. */
export function proxyImage(tag: string): string {
  return `${hub}/proxyv2:${tag}`;
}

export async function startIstiod(cluster: Cluster, client: Client, options: IstiodOptions): Promise<Istiod> {
  const { revision, tag, slot } = options;
  const port = cluster.site.base + firstPort + slot * portsEach;
  const serviceName = nameOf('istiod', revision);
  const clientConfig = { service: { namespace, name: serviceName, path: '/inject', port } };
  const configuration = revisionWebhooks(revision, clientConfig) as AnyManifest;
  for (const manifest of [
    namespaceOf(namespace),
    meshConfigMap(revision),
    injectorConfigMap(revision, tag, options.templates),
    serviceHere(serviceName),
  ]) {
    await applyManifest(client, manifest);
  }
  // Applied once and never again: the caBundle in it is istiod's.
  expectCode(201, await client.call('POST', parentOf(configuration), { body: configuration }));
  const lookout = `lookout-${revision}`;
  await applyManifest(client, namespaceOf(lookout, { 'istio.io/rev': revision }));
  await applyManifest(client, accountOf(lookout)); // there may be no controller that makes it
  let running = await cluster.start(programOf(cluster, options, port));
  const authority = await waitFor(`${configuration.metadata.name} has a caBundle`, async () => {
    const [bundle = '', ...others] = await bundlesIn(client, configuration);
    return bundle !== '' && others.length === 0 ? bundle : undefined;
  });

  async function trustedIn(webhooks: AnyManifest): Promise<void> {
    await waitUntil(
      `${webhooks.metadata.name} trusts ${revision}`,
      async () => (await bundlesIn(client, webhooks)).join() === authority,
    );
  }

  return {
    revision,
    configure: async (next, more) => {
      await applyManifest(client, injectorConfigMap(revision, next, more));
    },
    confuse: async () => {
      const { data, ...rest } = injectorConfigMap(revision, tag);
      await applyManifest(client, { ...rest, data: { ...(data as object), values: '{"global": {' } });
    },
    injects: (wanted) =>
      waitUntil(`${revision} injects ${wanted}`, async () => {
        const injected = await wouldInject(client, { kind: 'Deployment', namespace: lookout, name: 'any' });
        return injected?.image === proxyImage(wanted);
      }),
    trusted: () => trustedIn(configuration),
    asked: () => readMetric(new URL(`http://127.0.0.1:${port + monitoringStep}`), 'sidecar_injection_requests_total'),
    tagAs: async (name) => {
      const tagged = tagWebhooks({ tag: name, revision }, clientConfig) as AnyManifest;
      await applyManifest(client, tagged); // which leaves the caBundle to istiod
      await trustedIn(tagged);
    },
    stop: () => running.stop(),
    start: async (way) => {
      running = await cluster.start(programOf(cluster, { ...options, ...way }, port));
    },
  };
}

/** The certificate authorities of the webhooks there, each once. */
async function bundlesIn(client: Client, configuration: AnyManifest): Promise<readonly string[]> {
  const { webhooks = [] } = (await client.call('GET', pathOf(configuration))).body as {
    readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
  };
  return [...new Set(webhooks.map(({ clientConfig: { caBundle = '' } }) => caBundle))];
}

function programOf({ site }: Cluster, { revision, native = false }: IstiodOptions, port: number): Service {
  const directory = join(site.directory, nameOf('istiod', revision));
  mkdirSync(directory, { recursive: true });
  const [http, grpc, secureGrpc, monitoring, control] = [1, 2, 3, monitoringStep, 5].map((step) => String(port + step));
  return {
    command: {
      name: nameOf('istiod', revision),
      file: site.binary('istiod'),
      directory,
      args: [
        ...['discovery', '--kubeconfig', site.kubeconfig],
        ...['--httpsAddr', `127.0.0.1:${port}`, '--httpAddr', `127.0.0.1:${http ?? ''}`],
        ...['--grpcAddr', `127.0.0.1:${grpc ?? ''}`, '--secureGRPCAddr', `127.0.0.1:${secureGrpc ?? ''}`],
        ...['--monitoringAddr', `127.0.0.1:${monitoring ?? ''}`],
        ...['--ctrlz_address', '127.0.0.1', '--ctrlz_port', control ?? ''],
      ],
      env: {
        POD_NAMESPACE: namespace,
        POD_NAME: `${nameOf('istiod', revision)}-0`,
        REVISION: revision,
        PILOT_CERT_PROVIDER: 'istiod',
        SERVICE_ACCOUNT: nameOf('istiod', revision),
        CLUSTER_ID: 'Kubernetes',
        INJECTION_WEBHOOK_CONFIG_NAME: nameOf('istio-sidecar-injector', revision),
        ENABLE_NATIVE_SIDECARS: String(native),
      },
    },
    probe: { url: `http://127.0.0.1:${http ?? ''}/ready`, body: /^/ },
    port,
  };
}

function namespaceOf(name: string, labels: Readonly<Record<string, string>> = {}): AnyManifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function accountOf(place: string): AnyManifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: place } };
}

function meshConfigMap(revision: string): AnyManifest {
  const mesh = {
    trustDomain: 'cluster.local',
    rootNamespace: namespace,
    defaultConfig: { discoveryAddress: `${nameOf('istiod', revision)}.${namespace}.svc:15012` },
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: nameOf('istio', revision), namespace, labels: { 'istio.io/rev': revision } },
    data: { mesh: stringify(mesh), meshNetworks: 'networks: {}\n' },
  };
}

/** Templates and values as they are in Istio's own chart. */
function injectorConfigMap(revision: string, tag: string, more: Templates = {}): AnyManifest {
  const values = chartValues();
  const config = {
    defaultTemplates: ['sidecar'],
    policy: 'enabled',
    alwaysInjectSelector: [],
    neverInjectSelector: [],
    injectedAnnotations: {},
    templates: {
      ...Object.fromEntries(Object.entries(templates).map(([name, file]) => [name, chartFile(`files/${file}`)])),
      ...more,
    },
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: nameOf('istio-sidecar-injector', revision),
      namespace,
      labels: { 'istio.io/rev': revision },
    },
    data: {
      config: stringify(config),
      values: JSON.stringify({
        global: { ...values.global, hub, tag },
        sidecarInjectorWebhook: values.sidecarInjectorWebhook,
        revision: revision === 'default' ? '' : revision,
        pilot: { cni: values.cni, env: values.env },
        gateways: values.gateways,
      }),
    },
  };
}

interface ChartValues {
  readonly global: object;
  readonly sidecarInjectorWebhook: object;
  readonly cni: object;
  readonly env: object;
  readonly gateways: object;
}

function chartValues(): ChartValues {
  const { _internal_defaults_do_not_set: values } = parse(chartFile('values.yaml')) as {
    readonly _internal_defaults_do_not_set: ChartValues;
  };
  return values;
}

function chartFile(path: string): string {
  return readFileSync(join(moduleFolder('istio', chart), path), 'utf8');
}

function serviceHere(name: string): AnyManifest {
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

function nameOf(prefix: string, revision: string): string {
  return revision === 'default' ? prefix : `${prefix}-${revision}`;
}

function parentOf(manifest: AnyManifest): string {
  return pathOf(manifest).replace(/\/[^/]+$/, '');
}
