import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import corednsSync from '../../../functions/coredns-sync/index.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../../functions/coredns-sync/sandbox/coredns.ts';
import freezeCheck from '../../../functions/freeze-check/index.ts';
import nodeAffinityMutate from '../../../functions/node-affinity-mutate/index.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { plain } from '../../../lib/install/manifests/plain.ts';
import { runNode, type Ended } from '../../cli/command.ts';
import { createClient, type Body, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { ingressOf } from '../../../functions/coredns-sync/test/world.ts';
import { cronJob, freeze, suspending } from '../../../functions/freeze-check/test/objects.ts';
import { binaryEvent, send } from '../../support/http.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { startFunction, type RealFunction } from '../support/function.ts';
import { applyManifest, type AnyManifest } from '../../support/manifests.ts';
import { addNodes } from '../parts/nodes.ts';
import { waitUntil } from '../parts/wait.ts';

const { namespace } = standardInstallation;
const root = join(import.meta.dirname, '../../..');
const patience = 300_000;
jest.setTimeout(patience);

describe('leaving a real cluster', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    const parts = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
    cluster = running.use(await startCluster({ parts }));
    client = running.adopt(createClient(cluster.access), ({ close }) => close());
    await addNodes(cluster, ['node-1']);
    for (const [name, labels] of [
      [namespace, {}],
      ['shop', {}],
      ['prod', { env: 'prod' }],
    ] as const) {
      await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    }
  }, patience);
  afterAll(() => running.disposeAsync());

  async function read(path: string): Promise<Body | undefined> {
    const { code, body } = await client.call('GET', path);
    return code === 404 ? undefined : body;
  }

  async function templateOf(path: string): Promise<unknown> {
    return (await read(path))?.spec?.['template'];
  }

  /** Everything but what only a real webhook could answer; KWOK lets the pods run. */
  async function install(definition: Definition, environment: Readonly<Record<string, string>>): Promise<void> {
    const { manifests } = renderFunction(definition, standardInstallation, { platform: plain, environment });
    for (const manifest of manifests.filter(({ kind }) => !kind.endsWith('WebhookConfiguration'))) {
      await applyManifest(client, manifest);
    }
    await waitUntil('its pod runs', async () => (await podsOf(definition)) > 0);
  }

  async function podsOf({ name }: Definition): Promise<number> {
    const query = { labelSelector: `app.kubernetes.io/name=${name}` };
    const { body } = await client.call('GET', `/api/v1/namespaces/${namespace}/pods`, { query });
    return body.items?.length ?? 0;
  }

  function start(
    definition: Definition,
    port: number,
    environment: Readonly<Record<string, string>>,
  ): Promise<RealFunction> {
    const folder = join(root, 'functions', definition.name);
    return startFunction(cluster, { definition, folder }, { port, environment });
  }

  function release({ name }: Definition): Promise<Ended> {
    return runNode(['lib/cli/bin/kube-reflex.ts', 'release', name, '--kubeconfig', cluster.site.kubeconfig], root);
  }

  it('coredns-sync half-way through its set-up gives back Corefile and Deployment, while it still runs', async () => {
    const core = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
    const rules = '/api/v1/namespaces/kube-system/configmaps/coredns-ingress-sync-rewrite-rules';
    await applyManifest(client, { apiVersion: 'v1', kind: 'ConfigMap', ...coreConfigMap(corefile) } as AnyManifest);
    await applyManifest(client, { apiVersion: 'apps/v1', kind: 'Deployment', ...coreDeployment } as AnyManifest);
    const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...ingressOf('web', ['web.example.com']) };
    await applyManifest(client, ingress as AnyManifest);
    await waitUntil('CoreDNS runs', async () => isRolledOut(await read(core)));
    const before = await templateOf(core);
    const settings = { COREDNS_AUTO_CONFIGURE: 'true' };
    await install(corednsSync, settings);
    const { url, running: process } = await start(corednsSync, 0, settings);
    await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const mounted = await templateOf(core);

    const first = await release(corednsSync);
    await process.stop();
    const second = await release(corednsSync);

    expect(mounted).not.toEqual(before);
    expect(first).toEqual({ code: 0, output: expect.stringContaining('patch Deployment kube-system/coredns') });
    expect(first.output).toContain('delete Deployment kube-reflex/coredns-sync');
    expect(second.output).toContain('there was nothing to take back');
    expect(await templateOf(core)).toEqual(before);
    expect((await read('/api/v1/namespaces/kube-system/configmaps/coredns'))?.data).toEqual({ Corefile: corefile });
    expect(await read(rules)).toBeUndefined();
    expect(await podsOf(corednsSync)).toBe(0);
  });

  it('freeze-check leaves a cluster that it has locked: nobody answers its webhooks, CronJobs are suspended', async () => {
    const report = '/apis/batch/v1/namespaces/prod/cronjobs/report';
    for (const kind of freezeCheck.kinds ?? []) {
      await applyManifest(client, kind);
    }
    const policies = '/apis/freeze-operator.io/v1alpha1/changefreezes';
    await waitUntil('the policies are served', async () => (await client.call('GET', policies)).code === 200);
    await applyManifest(client, { apiVersion: 'batch/v1', kind: 'CronJob', ...cronJob('report') } as AnyManifest);
    const before = await read(report);
    const xmas = freeze('xmas', ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z'], { behavior: suspending });
    await applyManifest(client, {
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind: 'ChangeFreeze',
      ...xmas,
    } as AnyManifest);
    await install(freezeCheck, {});
    const { url, running: process } = await start(freezeCheck, 1, {});
    await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const held = await read(report);
    await process.stop();
    await lock();

    const first = await release(freezeCheck);
    const second = await release(freezeCheck);

    expect(held?.spec?.['suspend']).toBe(true);
    expect(first).toEqual({ code: 0, output: expect.stringContaining('patch CronJob prod/report') });
    expect(second.output).toContain('there was nothing to take back');
    expect(wishesOf(await read(report))).toEqual(wishesOf(before));
    expect((await read(`${policies}/xmas`))?.metadata?.name).toBe('xmas');
    expect(await podsOf(freezeCheck)).toBe(0);
  });

  /** The shipped webhook configurations, with nobody behind them: from now on every change of a workload is refused. */
  async function lock(): Promise<void> {
    const { manifests } = renderFunction(freezeCheck);
    for (const manifest of manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
      await applyManifest(client, manifest);
    }
    await waitUntil('changes are refused', async () => {
      const { code } = await client.call('DELETE', '/apis/batch/v1/namespaces/prod/cronjobs/report', {
        query: { dryRun: 'All' },
      });
      return code === 500;
    });
  }

  it('node-affinity-mutate takes its MutatingAdmissionPolicy with it, although its workloads with the settings went before', async () => {
    const kinds = '/apis/admissionregistration.k8s.io/v1/';
    const name = 'node-affinity-mutate.kube-reflex.dev';
    const paths = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'].map(
      (plural) => `${kinds}${plural}/${name}`,
    );
    const settings = { POLICY: 'true', POOL_NAME: 'cpu-worker-0' };
    await install(nodeAffinityMutate, settings);
    const { url, running: process } = await start(nodeAffinityMutate, 2, settings);
    await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const made = await Promise.all(paths.map(read));
    await process.stop();
    for (const workload of ['node-affinity-mutate', 'node-affinity-mutate-webhook']) {
      await client.call('DELETE', `/apis/apps/v1/namespaces/${namespace}/deployments/${workload}`);
    }

    const { code } = await release(nodeAffinityMutate);

    expect(made.every((object) => object !== undefined)).toBe(true);
    expect(code).toBe(0);
    expect(await Promise.all(paths.map(read))).toEqual([undefined, undefined]);
    expect(await podsOf(nodeAffinityMutate)).toBe(0);
  });
});

function isRolledOut(deployment: Body | undefined): boolean {
  const { replicas, updatedReplicas, availableReplicas } = (deployment?.status ?? {}) as Record<string, number>;
  return replicas === 2 && updatedReplicas === 2 && availableReplicas === 2;
}

function wishesOf(object: Body | undefined): object {
  return { spec: object?.spec, annotations: object?.metadata?.annotations };
}
