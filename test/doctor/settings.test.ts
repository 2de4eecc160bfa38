import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { coreConfigMap, coreDeployment, corefile } from '../../functions/coredns-sync/sandbox/coredns.ts';
import corednsSync from '../../functions/coredns-sync/index.ts';
import { examineFunction } from '../../lib/install/doctor/examine.ts';
import type { Finding } from '../../lib/runtime/doctor/finding.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { configMaps, deployments, type Deployment } from '../../lib/kube/model/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { updateManifests } from '../../lib/install/manifests/installations.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { chosenSettings } from '../../lib/install/manifests/settings.ts';
import { binaryEvent, send, startApp } from '../support/http.ts';
import { accountAccess } from './account.ts';
import { install } from './installation.ts';
import { openCluster, type Cluster } from './patient.ts';

const { namespace } = standardInstallation;
const chosen = ['COREDNS_AUTO_CONFIGURE=true', 'WATCH_NAMESPACES=shop', 'VERIFY_RELOAD=true'];
const definitions = [corednsSync];

let cluster: Cluster;

beforeEach(async () => {
  cluster = await openCluster();
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('an installation that was written for its settings', () => {
  it('leaves the doctor nothing to mend', async () => {
    await install(cluster, await written(chosen));

    expect(await problems()).toEqual([]);
  });

  it('lets the function do under its own account what they ask for', async () => {
    const manifests = await written(chosen);
    await install(cluster, manifests);
    const { api } = cluster.sandbox;
    await api.create(configMaps, coreConfigMap(corefile));
    await api.create(deployments, coreDeployment);
    const calls: Call[] = [];
    const app = await startApp(corednsSync, {
      access: accountAccess(cluster.sandbox, corednsSync.name),
      environment: { ...environmentIn(manifests), POD_NAMESPACE: namespace },
      observe: (call) => calls.push(call),
    });

    const { status } = await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    await app.close();

    expect(status).toBe(204);
    expect(calls.filter(({ code }) => code === 403)).toEqual([]);
    expect(volumesOf(api.get(deployments, 'coredns', 'kube-system'))).toContain('coredns-ingress-sync-volume');
  });
});

it('settings that only the workload has are an error of the rights and of the source, and a command mends both', async () => {
  const [workload] = (await written(chosen)).filter(isWorkload);
  const others = (await written([])).filter((manifest) => !isWorkload(manifest));

  await install(cluster, [...others, ...(workload === undefined ? [] : [workload])]);

  const fix = expect.stringMatching(/npm run manifests -- --set \S+=VALUE --out DIR/);
  expect(await problems()).toEqual([
    expect.objectContaining({ check: 'rights of coredns-sync', message: expect.stringContaining('patch'), fix }),
    expect.objectContaining({ check: 'event source', fix }),
  ]);
});

/** `deploy/plain` for these settings, as it is in the files. */
async function written(settings: readonly string[]): Promise<readonly Manifest[]> {
  const root = await mkdtemp(join(tmpdir(), 'settings-'));
  try {
    const texts = settings.map((setting) => `${corednsSync.name}.${setting}`);
    await updateManifests(definitions, { root, check: false, settingsOf: chosenSettings(texts, definitions) });
    const files = ['namespace', corednsSync.name, 'source'].map((name) => join(root, 'deploy/plain', `${name}.yaml`));
    const contents = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    return contents.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  } finally {
    await rm(root, { recursive: true });
  }
}

function isWorkload({ kind, metadata }: Manifest): boolean {
  return kind === 'Deployment' && metadata.name === corednsSync.name;
}

function environmentIn(manifests: readonly Manifest[]): Record<string, string> {
  const { spec } = manifests.find(isWorkload) as Manifest & Pick<Deployment, 'spec'>;
  const variables = spec?.template.spec?.containers[0]?.env ?? [];
  return Object.fromEntries(variables.map(({ name, value = '' }) => [name, value]));
}

function volumesOf(deployment: Deployment | undefined): readonly string[] {
  return (deployment?.spec?.template.spec?.volumes ?? []).map(({ name }) => name);
}

async function problems(): Promise<readonly Finding[]> {
  const { kube, sandbox } = cluster;
  const transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
  try {
    const findings = await examineFunction(corednsSync, { kube, transport, namespace, now: new Date() });
    return findings.filter(({ state }) => state === 'warning' || state === 'error');
  } finally {
    transport.close();
  }
}
