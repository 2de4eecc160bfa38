import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import definition from '../../functions/coredns-sync/index.ts';
import { coreConfigMap, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { createClient, type Client } from '../contract/api/client.ts';
import { ingressOf, rulesName } from '../coredns-sync/world.ts';
import { callsOf, readAudit } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { accountKubeconfig, startFunction, usernameOf } from './function.ts';
import { applyManifest, pathOf, type AnyManifest } from './manifests.ts';
import { waitUntil } from './wait.ts';

const root = join(import.meta.dirname, '../..');
const patience = 120_000;
const rights = new Set(['Namespace', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

/** Everything that `kubectl apply -k deploy/plain` would send. */
const shipped = readdirSync(join(root, 'deploy/plain'))
  .filter((file) => file !== 'kustomization.yaml')
  .flatMap((file) => parseAllDocuments(readFileSync(join(root, 'deploy/plain', file), 'utf8')))
  .map((document) => document.toJS() as AnyManifest);

describe('deploy/plain on a real API server', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = createClient(cluster.access);
    running.defer(() => client.close());
    const elsewhere = shipped.flatMap(({ metadata: { namespace } }) => namespace ?? []);
    for (const name of new Set([...elsewhere, 'shop'])) {
      await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const manifest of shipped.filter(({ kind }) => rights.has(kind))) {
      await applyManifest(client, manifest);
    }
  }, patience);
  afterAll(() => running.disposeAsync());

  it('every manifest is accepted as it is, without an unknown field or a warning', async () => {
    for (const manifest of shipped) {
      const { code, body, headers } = await client.call('PATCH', pathOf(manifest), {
        body: manifest,
        query: { fieldManager: 'plain', force: true, dryRun: 'All', fieldValidation: 'Strict' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });

      const told = { object: `${manifest.kind} ${manifest.metadata.name}`, message: body['message'] };
      expect({ ...told, accepted: code === 200 || code === 201 }).toEqual({ ...told, accepted: true });
      expect({ ...told, warning: headers['warning'] }).toEqual({ ...told, warning: undefined });
    }
  });

  it(
    'an Ingress is created, our source tells, and coredns-sync writes rules, each under its shipped account',
    async () => {
      const core = { apiVersion: 'v1', kind: 'ConfigMap', ...coreConfigMap(corefile) } as AnyManifest;
      await applyManifest(client, core);
      const folder = join(root, 'functions/coredns-sync');
      const { url } = await startFunction(cluster, { definition, folder }, { port: 0 });
      await startSource(url);

      const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...ingressOf('web', ['web.example.com']) };
      await applyManifest(client, ingress as AnyManifest);

      await waitUntil('the rules', async () => {
        const { body } = await client.call('GET', `/api/v1/namespaces/kube-system/configmaps/${rulesName}`);
        return JSON.stringify(body['data'] ?? {}).includes('web.example.com');
      });
      const account = usernameOf('source', 'events');
      const refused = readAudit(cluster).filter(
        ({ user, responseStatus }) => user.username === account && responseStatus?.code === 403,
      );
      expect(refused).toEqual([]);
      expect(callsOf(account, readAudit(cluster))).toHaveProperty(['watch ingresses']);
    },
    patience,
  );

  /** The shipped source, told by its shipped ConfigMap; only the way to the function is that of this machine. */
  async function startSource(sink: URL): Promise<void> {
    const configMap = shipped.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'source');
    const { 'subscriptions.json': text = '[]' } = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
    const written = JSON.parse(text) as readonly { readonly name: string; readonly sink: string }[];
    const mine = written.filter(({ name }) => name === definition.name);
    expect(mine).toHaveLength(1);
    const file = join(cluster.site.directory, 'subscriptions.json');
    writeFileSync(file, JSON.stringify(mine.map((subscription) => ({ ...subscription, sink: sink.href }))));
    const port = cluster.site.base + 61;
    await cluster.start({
      command: {
        name: 'source',
        file: process.execPath,
        args: [join(root, 'lib/cli/source.ts')],
        env: {
          KUBECONFIG: await accountKubeconfig(cluster, { name: 'source', part: 'events' }),
          POD_NAMESPACE: standardSite.namespace,
          SUBSCRIPTIONS: file,
          PORT: String(port),
        },
      },
      probe: { url: `http://127.0.0.1:${port}/health/readiness` },
      port,
    });
  }
});
