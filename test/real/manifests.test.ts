import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { distinct, type Manifest } from '../../lib/manifests/manifest.ts';
import { createClient, type Client, type Reply } from '../contract/api/client.ts';
import { kustomize } from '../kustomize.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { additions, changes } from './defaulting.ts';
import { untilServed } from './eventing.ts';
import { installKnative } from './knative-webhooks.ts';
import { applyManifest, pathOf } from './manifests.ts';
import { moduleManifests } from './module-files.ts';
import type { ProductName } from './parts.ts';

const patience = 180_000;

/** What `kubectl apply -k` installs. */
const kustomizations = ['knative', 'deploy/plain', 'deploy/monitoring'];

/** What `kubectl apply -f` installs. */
const files = [
  'deploy/gitops/argocd-application.yaml',
  'deploy/gitops/argocd-applicationset.yaml',
  'deploy/gitops/flux.yaml',
];

/** Kinds that the manifests use and others bring. */
const kindsOfOthers: readonly (readonly [ProductName, string])[] = [
  ['cert-manager', 'deploy/crds'],
  ['prometheus-operator', 'example/prometheus-operator-crd'],
  ['argo-cd', 'manifests/crds'],
  ['flux-kustomize', 'config/crd/bases'],
  ['flux-source', 'config/crd/bases'],
];

/** All that Knative's webhooks add to what we ship. A Knative Service is completed as its documentation says. */
const expectedAdditions: Readonly<Record<string, readonly string[]>> = {};

describe('the shipped manifests before real Kubernetes with real Knative', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = createClient(cluster.access);
    running.defer(() => client.close());
    const kinds = kindsOfOthers.flatMap(([product, folder]) =>
      moduleManifests(product, folder).filter(({ kind }) => kind === 'CustomResourceDefinition'),
    );
    await Promise.all([installKnative(cluster), ...kinds.map((kind) => applyManifest(client, kind))]);
    await untilServed(client, kinds);
  }, patience);
  afterAll(() => running.disposeAsync());

  /** What must be there before: Serving tries out the pod of each Service, under its account. */
  async function prepare(manifests: readonly Manifest[]): Promise<void> {
    for (const name of distinct(manifests.flatMap(({ metadata }) => metadata.namespace ?? []))) {
      await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const account of manifests.filter(({ kind }) => kind === 'ServiceAccount')) {
      await applyManifest(client, account);
    }
  }

  function dryRun(manifest: Manifest): Promise<Reply> {
    return client.call('PATCH', pathOf(manifest), {
      body: manifest,
      query: { fieldManager: 'installer', force: true, dryRun: 'All', fieldValidation: 'Strict' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  }

  async function judge(manifests: readonly Manifest[]): Promise<void> {
    await prepare(manifests);
    for (const manifest of manifests) {
      const { code, body, warnings } = await dryRun(manifest);
      const object = `${manifest.kind} ${manifest.metadata.name}`;

      const refusal = code === 200 || code === 201 ? undefined : body.message;
      expect({ object, refusal, warnings }).toEqual({ object, refusal: undefined, warnings: [] });
      expect({ object, changes: changes(manifest, body) }).toEqual({ object, changes: [] });
      if (manifest.apiVersion.includes('knative.dev')) {
        const kind = `${manifest.apiVersion.split('/')[0] ?? ''} ${manifest.kind}`;
        expect({ kind, added: additions(manifest, body) }).toEqual({ kind, added: expectedAdditions[kind] });
      }
    }
  }

  it.each(kustomizations)(
    'PF-19 %s: every object is accepted, without a warning or an unexpected default',
    async (folder) => {
      await judge(await kustomize(folder));
    },
    patience,
  );

  it.each(files)('PF-19 %s: every object is accepted, without a warning', async (file) => {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    await judge(documents.map((document) => document.toJS() as Manifest));
  });
});
