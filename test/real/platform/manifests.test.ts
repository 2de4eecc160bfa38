import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { findFunctions } from '../../../lib/cli/functions.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { startSandbox } from '../../../lib/sandbox/sandbox.ts';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { kustomize } from '../../shipping/kustomize.ts';
import { startCluster } from '../parts/cluster.ts';
import { additions, changes } from './defaulting.ts';
import { untilServed, unconverted } from './eventing.ts';
import { judge, type Expected } from './judge.ts';
import { installKnative } from './knative-webhooks.ts';
import { applyManifest, pathOf, type AnyManifest } from '../../support/manifests.ts';
import { moduleManifests } from '../parts/module-files.ts';
import type { ProductName } from '../parts/parts.ts';

const patience = 300_000;

/** What `kubectl apply -k` installs. */
const kustomizations = [
  'deploy/kinds',
  'deploy/overlay',
  'knative/cert-manager',
  'deploy/plain',
  'deploy/openfaas/overlay',
  'deploy/monitoring',
];

/** What `kubectl apply -f` installs. */
const files = ['argocd-application.yaml', 'argocd-applicationset.yaml', 'flux.yaml'].map(
  (name) => `deploy/gitops/${name}`,
);

const knativeKinds: readonly (readonly [ProductName, string])[] = [
  ['eventing', 'config/core/resources'],
  ['serving', 'config/core/300-resources'],
];

/** Kinds that the manifests use and others bring, with the folders where those keep all of theirs. */
const usedKinds = new Set([
  ...['certificates.cert-manager.io', 'issuers.cert-manager.io'],
  ...['podmonitors.monitoring.coreos.com', 'prometheusrules.monitoring.coreos.com'],
  ...['applications.argoproj.io', 'applicationsets.argoproj.io'],
  ...['kustomizations.kustomize.toolkit.fluxcd.io', 'gitrepositories.source.toolkit.fluxcd.io'],
]);
const otherKinds: readonly (readonly [ProductName, string])[] = [
  ['cert-manager', 'deploy/crds'],
  ['prometheus-operator', 'example/prometheus-operator-crd'],
  ['argo-cd', 'manifests/crds'],
  ['flux-kustomize', 'config/crd/bases'],
  ['flux-source', 'config/crd/bases'],
];

/**
 * All that Knative may add: who made it, the own namespace to references, the channel of a Broker, the older kind of
 * filter (empty, so that ours holds), traffic to the latest revision. Nothing inside of lists, containers among them:
 * Argo CD compares those of foreign kinds as a whole, and would be out of sync for ever.
 */
const knativeAdditions: Expected = {
  'eventing.knative.dev Broker': ['metadata.annotations', 'spec.config', 'spec.delivery.deadLetterSink.ref.namespace'],
  'eventing.knative.dev Trigger': [
    'metadata.annotations',
    'metadata.labels.eventing.knative.dev/broker',
    'spec.delivery.deadLetterSink.ref.namespace',
    'spec.filter',
    'spec.subscriber.ref.namespace',
  ],
  'sources.knative.dev ApiServerSource': ['metadata.annotations', 'spec.sink.ref.namespace'],
  'sources.knative.dev PingSource': ['metadata.annotations', 'spec.sink.ref.namespace'],
  'serving.knative.dev Service': ['metadata.annotations', 'spec.traffic'],
};

function kindsOf(products: readonly (readonly [ProductName, string])[]): AnyManifest[] {
  return products.flatMap(([product, folder]) =>
    moduleManifests(product, folder).filter(({ kind }) => kind === 'CustomResourceDefinition'),
  );
}

async function documentsOf(file: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as Manifest);
}

describe('the shipped manifests before real Kubernetes with real Knative', () => {
  const running = new AsyncDisposableStack();
  let client: Client;

  beforeAll(async () => {
    const cluster = running.use(await startCluster());
    client = createClient(cluster.access);
    running.defer(() => client.close());
    const kinds = kindsOf(otherKinds).filter(({ metadata }) => usedKinds.has(metadata.name));
    await Promise.all([installKnative(cluster), ...kinds.map((kind) => applyManifest(client, kind))]);
    await untilServed(client, kinds);
  }, patience);
  afterAll(() => running.disposeAsync());

  it.each(kustomizations)(
    'PF-19 %s: every object is accepted, without a warning or an unexpected default',
    async (folder) => judge(client, await kustomize(folder), knativeAdditions),
    patience,
  );

  it.each(files)('PF-19 %s: every object is accepted, without a warning', async (file) =>
    judge(client, await documentsOf(file)),
  );

  it('refuses what our manifests must not be: a typing error, a wrong mode, a schedule that never comes', async () => {
    const objects = await kustomize('knative');
    const refusals = [
      ['ApiServerSource', { mode: 'Refrence' }, /spec\.mode/],
      ['PingSource', { schedule: 'never' }, /spec\.schedule/],
      ['Trigger', { fliters: [] }, /fliters/],
    ] as const;
    for (const [wanted, spec, reason] of refusals) {
      const found = objects.find(({ kind }) => kind === wanted);
      const wrong = { ...(found ?? objects[0]), spec: { ...(found?.['spec'] as object), ...spec } } as Manifest;

      await expect(judge(client, [wrong])).rejects.toThrow(reason);
    }
  });
});

describe('the shipped manifests before the sandbox with the same kinds', () => {
  const running = new AsyncDisposableStack();
  let client: Client;

  beforeAll(async () => {
    const sandbox = await startSandbox({ port: 0, httpPort: 0, rbac: true });
    running.defer(() => sandbox.close());
    const { url, ca, adminToken: token } = sandbox;
    client = createClient({ url, ca, token });
    running.defer(() => client.close());
    const used = kindsOf(otherKinds).filter(({ metadata }) => usedKinds.has(metadata.name));
    const kinds = [...kindsOf(knativeKinds), ...used].map(unconverted);
    for (const kind of kinds) {
      await applyManifest(client, kind);
    }
    await untilServed(client, kinds);
  }, patience);
  afterAll(() => running.disposeAsync());

  /** Policies in CEL are the API server's own business; the sandbox says that it has none. */
  function isServed({ kind }: Manifest): boolean {
    return !kind.startsWith('ValidatingAdmissionPolicy');
  }

  it.each(kustomizations)('%s: every object is accepted as it is', async (folder) =>
    judge(client, (await kustomize(folder)).filter(isServed)),
  );

  it.each(files)('%s: every object is accepted as it is', async (file) => judge(client, await documentsOf(file)));
});

describe('knative/cert-manager', () => {
  it('makes of every function what it ships with when cert-manager has its certificate', async () => {
    const built = await kustomize('knative/cert-manager');
    for (const { definition } of await findFunctions('functions')) {
      const environment = definition.admit === undefined ? {} : { TLS_MODE: 'cert-manager' };
      const wanted = renderFunction(definition, standardInstallation, { environment }).manifests;
      const own = built.filter(({ apiVersion, metadata }) => isOf(definition.name, metadata) && isCore(apiVersion));

      expect(own.map(pathOf).sort()).toEqual(wanted.map(pathOf).sort());
      for (const manifest of wanted) {
        const path = pathOf(manifest);
        const made = own.find((each) => pathOf(each) === path);
        const annotated = manifest.kind.endsWith('WebhookConfiguration')
          ? ['metadata.annotations.cert-manager.io/inject-ca-from']
          : [];
        expect({ path, changes: changes(manifest, made), additions: additions(manifest, made) }).toEqual({
          path,
          changes: [],
          additions: annotated,
        });
      }
    }
  });

  function isOf(name: string, { labels = {} }: Manifest['metadata']): boolean {
    return labels['app.kubernetes.io/name'] === name;
  }

  function isCore(apiVersion: string): boolean {
    return !apiVersion.startsWith('cert-manager.io/');
  }
});
