import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import corednsSync from '../../../functions/coredns-sync/index.ts';
import { coreConfigMap, coreDeployment, corefile } from '../../../functions/coredns-sync/sandbox/coredns.ts';
import freezeCheck from '../../../functions/freeze-check/index.ts';
import istioRollout from '../../../functions/istio-rollout/index.ts';
import { injectorConfigMap, revisionWebhooks } from '../../../functions/istio-rollout/sandbox/istio.ts';
import nodeAffinityMutate from '../../../functions/node-affinity-mutate/index.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { renderShared } from '../../../lib/install/manifests/shared.ts';
import { runNode, type Ended } from '../../cli/command.ts';
import { createClient, type Body, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { ingressOf } from '../../../functions/coredns-sync/test/world.ts';
import { application, cronJob, freeze, pausing, suspending } from '../../../functions/freeze-check/test/objects.ts';
import { binaryEvent, send, type Event } from '../../support/http.ts';
import { startInjector, type Injector } from '../../../functions/istio-rollout/test/injector/injector.ts';
import { argoPaths, installArgoCd } from '../support/argo-cd.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { startFunction } from '../support/function.ts';
import { startKillingProxy, type Death } from '../support/killing-proxy.ts';
import { installKnative } from './knative-webhooks.ts';
import { applyManifest, type AnyManifest } from '../../support/manifests.ts';
import { addNodes } from '../parts/nodes.ts';
import { waitUntil } from '../parts/wait.ts';
import { createNamespace, createWorkloads } from '../support/workloads.ts';

const { namespace } = standardInstallation;
const root = join(import.meta.dirname, '../../..');
const patience = 300_000;
jest.setTimeout(patience);

interface Case {
  readonly definition: Definition;
  readonly settings: Readonly<Record<string, string>>;
  /** What people have before the function comes. */
  readonly world: () => Promise<void>;
  /** What of it the function changes, and what it makes. */
  readonly paths: readonly string[];
  /** What happens while it runs, beside ticks. */
  readonly meanwhile?: (url: URL) => Promise<void>;
  /** At which of its writes a SIGKILL meets it. */
  readonly death: Death;
  /** How many of the paths are others by then. */
  readonly half: number;
  /** How `release` takes back the half that was done, as it says so. */
  readonly takesBack?: RegExp;
  /** What of its own it leaves for the end, when nothing of it runs any more. */
  readonly forgets?: RegExp;
}

/** `kubectl apply -k knative` before Knative's own kinds and webhooks, and a death of each function amid its work. */
describe('leaving a real cluster with Knative', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;
  let injector: Injector;

  beforeAll(async () => {
    const parts = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
    cluster = running.use(await startCluster({ parts }));
    client = running.adopt(createClient(cluster.access), ({ close }) => close());
    injector = running.use(await startInjector({ image: 'docker.io/istio/proxyv2:1.28.4' }));
    await installKnative(cluster);
    await addNodes(cluster, ['node-1']);
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await createNamespace(client, 'shop', { 'istio-injection': 'enabled' });
    await createNamespace(client, 'prod', { env: 'prod' });
    await createNamespace(client, 'istio-system', {});
  }, patience);
  afterAll(() => running.disposeAsync());

  function make(apiVersion: string, kind: string, object: object): Promise<Body> {
    return applyManifest(client, { apiVersion, kind, ...object } as AnyManifest);
  }

  const cases: readonly Case[] = [
    {
      definition: corednsSync,
      settings: { COREDNS_AUTO_CONFIGURE: 'true' },
      world: async () => {
        await make('v1', 'ConfigMap', coreConfigMap(corefile));
        await make('apps/v1', 'Deployment', coreDeployment);
        await make('networking.k8s.io/v1', 'Ingress', ingressOf('web', ['web.example.com']));
      },
      paths: [
        '/api/v1/namespaces/kube-system/configmaps/coredns',
        '/apis/apps/v1/namespaces/kube-system/deployments/coredns',
        '/api/v1/namespaces/kube-system/configmaps/coredns-ingress-sync-rewrite-rules',
      ],
      death: { atWrite: 1, when: 'after', to: /\/kube-system\/deployments\/coredns/ },
      half: 2, // its rules and their mount; CoreDNS does not import them yet
      takesBack: /patch Deployment kube-system\/coredns/,
      forgets: /delete ConfigMap kube-reflex\/coredns-sync-state/,
    },
    {
      definition: freezeCheck,
      settings: {},
      world: async () => {
        for (const kind of freezeCheck.kinds ?? []) {
          await applyManifest(client, kind);
        }
        const policies = '/apis/freeze-operator.io/v1alpha1/changefreezes';
        await waitUntil('the policies are served', async () => (await client.call('GET', policies)).code === 200);
        await installArgoCd(client);
        await make('batch/v1', 'CronJob', cronJob('report'));
        await make('batch/v1', 'CronJob', cronJob('second'));
        await make('argoproj.io/v1alpha1', 'Application', application('web', { prune: true }));
        const spans = ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z'] as const;
        const behavior = { ...suspending, ...pausing };
        await make('freeze-operator.io/v1alpha1', 'ChangeFreeze', freeze('xmas', spans, { behavior }));
      },
      paths: [
        '/apis/batch/v1/namespaces/prod/cronjobs/report',
        '/apis/batch/v1/namespaces/prod/cronjobs/second',
        `${argoPaths.applications}/web`,
      ],
      death: { atWrite: 1, when: 'after', to: /\/(cronjobs|applications)\// },
      half: 1,
      takesBack: /patch (CronJob prod|Application argocd)\//,
      forgets: /delete ConfigMap kube-reflex\/freeze-check-state/,
    },
    {
      definition: istioRollout,
      settings: { ISTIOD_CONFIG_READ_DELAY: '1s', COOLDOWN: '0s', RECONCILE_PERIOD: '2s' },
      world: async () => {
        await make('v1', 'ConfigMap', injectorConfigMap({ revision: 'default', tag: '1.28.4' }));
        await make(
          'admissionregistration.k8s.io/v1',
          'MutatingWebhookConfiguration',
          revisionWebhooks('default', injector.clientConfig),
        );
        await createWorkloads(client, [
          { kind: 'Deployment', namespace: 'shop', name: 'api' },
          { kind: 'Deployment', namespace: 'shop', name: 'web' },
        ]);
      },
      paths: [
        '/apis/apps/v1/namespaces/shop/deployments/api',
        '/apis/apps/v1/namespaces/shop/deployments/web',
        `/api/v1/namespaces/${namespace}/configmaps/istio-rollout-state`,
      ],
      meanwhile: async (url) => {
        injector.behave({ image: 'docker.io/istio/proxyv2:1.29.0' });
        await make('v1', 'ConfigMap', injectorConfigMap({ revision: 'default', tag: '1.29.0' }));
        const subject = { kind: 'ConfigMap', namespace: 'istio-system', name: 'istio-sidecar-injector' };
        await wake(url, { type: 'dev.knative.apiserver.ref.update', apiVersion: 'v1', ...subject });
      },
      death: { atWrite: 1, when: 'after', to: /\/shop\/deployments\// },
      half: 2, // one of the two, and its state
      takesBack: /patch Deployment shop\/(api|web)/,
      forgets: /delete ConfigMap kube-reflex\/istio-rollout-state/,
    },
    {
      definition: nodeAffinityMutate,
      settings: { POLICY: 'true', POOL_NAME: 'cpu-worker-0' },
      world: () => Promise.resolve(),
      paths: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'].map(
        (plural) => `/apis/admissionregistration.k8s.io/v1/${plural}/node-affinity-mutate.kube-reflex.dev`,
      ),
      death: { atWrite: 1, when: 'after', to: /\/mutatingadmissionpolic/ },
      half: 1,
      forgets: /delete MutatingAdmissionPolicy node-affinity-mutate/,
    },
  ];

  /** What people asked for, without what the API server notes beside it. */
  async function view(paths: readonly string[]): Promise<readonly object[]> {
    const replies = await Promise.all(paths.map((path) => client.call('GET', path)));
    return replies.map(({ code, body: { metadata, spec, data } }) => {
      const { 'deployment.kubernetes.io/revision': _revision, ...annotations } = metadata?.annotations ?? {};
      return code === 404 ? {} : { annotations, spec, data };
    });
  }

  async function install({ definition, settings }: Case): Promise<readonly Manifest[]> {
    const { manifests } = renderFunction(definition, standardInstallation, { environment: settings });
    const later = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
    for (const manifest of [...manifests, ...renderShared([definition])].filter((each) => !later.includes(each))) {
      await applyManifest(client, manifest);
    }
    return later;
  }

  async function workUntilDeath({ definition, settings, meanwhile, death }: Case, port: number): Promise<void> {
    await using proxy = await startKillingProxy({ url: cluster.access.url, ca: cluster.access.ca });
    const folder = join(root, 'functions', definition.name);
    const environment = { ...settings, TIMEOUT_SECONDS: '30' };
    const fn = await startFunction(cluster, { definition, folder }, { port, server: proxy.url, environment });
    proxy.arm(fn.running, death);
    await tick(fn.url);
    await meanwhile?.(fn.url);
    await waitUntil(`${definition.name} is amid its work`, async () => {
      await tick(fn.url);
      return proxy.struck();
    });
    await fn.running.stop();
  }

  function tick(url: URL): Promise<void> {
    return wake(url, { type: 'dev.knative.sources.ping' });
  }

  /** Whoever dies does not answer. */
  async function wake(url: URL, event: Event): Promise<void> {
    await send(url, binaryEvent(event)).catch(() => undefined);
  }

  function release({ name }: Definition): Promise<Ended> {
    return runNode(['lib/cli/bin/kube-reflex.ts', 'release', name, '--kubeconfig', cluster.site.kubeconfig], root);
  }

  it.each(cases.map((each, index) => [each.definition.name, each, index] as const))(
    '%s, killed half-way, leaves by the documented order, and a second time finds nothing',
    async (name, given, port) => {
      await given.world();
      const before = await view(given.paths);
      const webhooks = await install(given);
      await workUntilDeath(given, port);
      const half = await view(given.paths);
      for (const webhook of webhooks) {
        await applyManifest(client, webhook);
      }

      const first = await release(given.definition);
      const second = await release(given.definition);

      expect(half.filter((object, index) => !isDeepStrictEqual(object, before[index]))).toHaveLength(given.half);
      expect(first).toMatchObject({ code: 0 });
      expect(second).toEqual({ code: 0, output: expect.stringContaining('there was nothing to take back') });
      expect(withoutRestart(await view(given.paths))).toEqual(withoutRestart(before));
      const stages = [
        ...webhooks.map(({ kind, metadata }) => new RegExp(`delete ${kind} ${metadata.name}`)),
        new RegExp(`delete Trigger ${namespace}/${name}`),
        given.takesBack,
        new RegExp(`delete Service ${namespace}/${name}(?![\\w-])`),
        given.forgets,
      ].filter((stage) => stage !== undefined);
      const places = stages.map((stage) => first.output.search(stage));
      expect({ places, output: first.output }).toEqual({
        places: places.toSorted((a, b) => a - b),
        output: first.output,
      });
      expect(Math.min(...places)).toBeGreaterThan(0);
    },
  );
});

const restart = 'istio-rollout.kube-reflex.dev/restartedAt';

/** The mark of a restart stays on the pod template: to remove it would replace every pod. */
function withoutRestart(objects: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(objects), (key, value: object) =>
    key === 'annotations' && Object.keys(value).join() === restart ? undefined : value,
  );
}
