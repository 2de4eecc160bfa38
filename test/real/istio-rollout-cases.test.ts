import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../functions/istio-rollout/index.ts';
import type { Status } from '../../functions/istio-rollout/render.ts';
import { injection } from '../../functions/istio-rollout/sandbox/inject.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import type { Pod } from '../../lib/kube/resource.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../lib/review/review.ts';
import { createClient, type Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { binaryEvent, send } from '../http.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { readAudit } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { installRights, startFunction, usernameOf, type RealFunction, type Shipped } from './function.ts';
import { injectedInto } from './injection-oracle.ts';
import { applyManifest, type AnyManifest } from './manifests.ts';
import { addNodes } from './nodes.ts';
import { rolloutDefinition } from './rollouts.ts';
import { waitUntil } from './wait.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  livePods,
  mergePatch,
  pathOfWorkload,
  settled,
  type Template,
  type Workload,
} from './workloads.ts';

const shipped: Shipped = {
  definition: istioRollout,
  folder: join(import.meta.dirname, '../../functions/istio-rollout'),
};
const settings = {
  ISTIOD_CONFIG_READ_DELAY: '1s',
  COOLDOWN: '0s',
  RECONCILE_PERIOD: '2s',
  MAX_IN_FLIGHT: '100',
  MAX_IN_FLIGHT_PER_NAMESPACE: '100',
};
const annotation = 'istio-rollout.kube-reflex.dev';
const restarted = `${annotation}/restartedAt`;

function imageOf(tag: string): string {
  return `docker.io/istio/proxyv2:${tag}`;
}

/** A template whose pods begin with this proxy, whatever the control plane injects. */
function fixed(image: string): Template {
  return { annotations: { 'sidecar.istio.io/proxyImage': image } };
}

/** What those pods get from the upgrade on. */
const later: Readonly<Record<string, string>> = {
  untagged: 'registry:5000/istio/proxyv2:latest',
  digested: `example.com/proxyv2:1@sha256:${'b'.repeat(64)}`,
  mirrored: 'mirror.example.com/istio/proxyv2:1.29.0',
  variant: 'docker.io/istio/proxyv2:1.29.0-distroless',
};

function rewritten({ object }: AdmissionRequest): Omit<AdmissionResponse, 'uid'> | undefined {
  const image = later[object?.metadata?.labels?.['app'] ?? ''];
  if (image === undefined || object === null) {
    return undefined;
  }
  const annotations = { ...object.metadata?.annotations, 'sidecar.istio.io/proxyImage': image };
  const pod: Pod = { ...object, metadata: { ...object.metadata, annotations } };
  const patch = injection(pod, { revision: 'default', image });
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

function deployment(namespace: string, name: string, more: Partial<Workload> = {}): Workload {
  return { kind: 'Deployment', namespace, name, ...more };
}

const cases = {
  plain: deployment('shop', 'plain', { replicas: 10 }),
  namesake: { ...deployment('shop', 'plain'), kind: 'StatefulSet' },
  paused: deployment('shop', 'paused'),
  onDelete: { ...deployment('shop', 'on-delete'), kind: 'StatefulSet' },
  windowed: deployment('shop', 'windowed'),
  evicted: deployment('shop', 'evicted'),
  untagged: deployment('images', 'untagged', { template: fixed('registry:5000/istio/proxyv2') }),
  digested: deployment('images', 'digested', { template: fixed(`example.com/proxyv2:1@sha256:${'a'.repeat(64)}`) }),
  mirrored: deployment('images', 'mirrored', { template: fixed('docker.io/istio/proxyv2:1.29.0') }),
  variant: deployment('images', 'variant', { template: fixed('docker.io/istio/proxyv2:1.29.0') }),
  left: deployment('quiet', 'left'),
  wanted: deployment('quiet', 'wanted'),
} as const satisfies Readonly<Record<string, Workload>>;

const rollouts = '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts';
const rolloutTemplate = {
  metadata: { labels: { app: 'canary' } },
  spec: { containers: [{ name: 'app', image: 'app' }] },
};

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('one upgrade, seen on the real API server', () => {
  let cluster: Cluster;
  let client: Client;
  let injector: Injector;
  let fn: RealFunction;
  let before: ReadonlyMap<string, number>;

  async function tick(): Promise<void> {
    expect((await send(fn.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status).toBe(204);
  }

  async function status(): Promise<Status> {
    return JSON.parse((await send(fn.url, { method: 'GET', path: '/status' })).body) as Status;
  }

  async function codeOf({
    kind,
    name,
  }: Pick<Workload, 'name'> & { readonly kind: string }): Promise<string | undefined> {
    return (await status()).workloads.find((row) => row.kind === kind && row.name === name)?.code;
  }

  /** Ticks until nothing is pending or under way; what waits for a person stays in the queue. */
  async function finish(): Promise<void> {
    await waitUntil('nothing is under way', async () => {
      await playArgo();
      await tick();
      const { pending, counts, workloads } = await status();
      return pending === undefined && counts.inflight === 0 && !workloads.some(({ code }) => code === 'Queued');
    });
  }

  async function upgrade(tag: string): Promise<void> {
    injector.behave({ image: imageOf(tag), answer: rewritten });
    await applyManifest(client, injectorConfigMap({ revision: 'default', tag }) as AnyManifest);
    const subject = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'istio-system', name: 'istio-sidecar-injector' };
    await send(fn.url, binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...subject }));
    await pause(1_000);
  }

  async function timesRestarted(workload: Workload): Promise<number> {
    return ((await generations(client)).get(identify(workload)) ?? 0) - (before.get(identify(workload)) ?? 0);
  }

  async function imagesOf({ kind, name }: Workload): Promise<readonly (string | undefined)[]> {
    const mine = (await livePods(client)).filter(
      ({ metadata, status: { phase } = {} }) =>
        metadata?.labels?.['app'] === name && metadata.labels['kind'] === kind && phase !== 'Failed',
    );
    return [...new Set(mine.map((pod) => injectedInto(pod)?.image))];
  }

  async function annotate(workload: Workload, annotations: Readonly<Record<string, string>>): Promise<void> {
    await mergePatch(client, pathOfWorkload(workload), { metadata: { annotations } });
  }

  /** What a kubelet that ran out of memory leaves behind: a pod of the present ReplicaSet that has failed. */
  async function leaveEvictedPod(): Promise<void> {
    const [pod] = (await livePods(client)).filter(({ metadata }) => metadata?.labels?.['app'] === 'evicted');
    const { name = '', namespace = '' } = pod?.metadata ?? {};
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await mergePatch(client, path, { status: { phase: 'Failed', reason: 'Evicted' } });
    await settled(client, [cases.evicted]);
  }

  async function addRollout(): Promise<void> {
    await applyManifest(client, rolloutDefinition);
    await waitUntil('the CRD is served', async () => (await client.call('GET', rollouts)).code === 200);
    const body = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Rollout',
      metadata: { name: 'canary' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'canary' } }, template: rolloutTemplate },
    };
    expectCode(201, await client.call('POST', rollouts, { body }));
    await playArgo();
  }

  /** What Argo's controller does: it replaces the pod of a Rollout that is to be restarted, and says so. */
  async function playArgo(): Promise<void> {
    const { metadata = {}, spec, status: known } = expectCode(200, await client.call('GET', `${rollouts}/canary`));
    const { generation = 1, uid = '' } = metadata;
    const { observedGeneration } = (known ?? {}) as { readonly observedGeneration?: string };
    if (observedGeneration === String(generation)) {
      return;
    }
    await client.call('DELETE', `/api/v1/namespaces/shop/pods/canary-${generation - 1}`);
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'canary', uid, controller: true };
    await addPod('canary', { name: `canary-${generation}`, ownerReferences: [owner] });
    const restartedAt = spec?.['restartAt'];
    const now = {
      phase: 'Healthy',
      observedGeneration: String(generation),
      ...(restartedAt !== undefined && { restartedAt }),
    };
    await mergePatch(client, `${rollouts}/canary/status`, { status: now });
  }

  async function addPod(app: string, metadata: NonNullable<Pod['metadata']> = { name: app }): Promise<void> {
    const body = { metadata: { ...metadata, labels: { app } }, spec: rolloutTemplate.spec };
    expectCode(201, await client.call('POST', '/api/v1/namespaces/shop/pods', { body }));
  }

  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
    client = createClient(cluster.access);
    injector = await startInjector({ image: imageOf('1.28.4') });
    await addNodes(cluster, ['node-1']);
    await createNamespace(client, 'istio-system', {});
    await applyManifest(client, injectorConfigMap({ revision: 'default', tag: '1.28.4' }) as AnyManifest);
    await applyManifest(client, revisionWebhooks('default', injector.clientConfig) as AnyManifest);
    for (const name of ['shop', 'images', 'quiet']) {
      await createNamespace(client, name, { 'istio-injection': 'enabled' });
    }
    await mergePatch(client, '/api/v1/namespaces/quiet', {
      metadata: { annotations: { [`${annotation}/policy`]: 'ignore' } },
    });
    await createWorkloads(client, Object.values(cases));
    await addPod('bare');
    await addRollout();
    await annotate(cases.wanted, { [`${annotation}/policy`]: 'auto' });
    await annotate(cases.windowed, { [`${annotation}/window`]: closedWindow() });
    await mergePatch(client, pathOfWorkload(cases.paused), { spec: { paused: true } });
    await mergePatch(client, pathOfWorkload(cases.onDelete), {
      spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
    });
    await leaveEvictedPod();
    await installRights(cluster, shipped);
    fn = await startFunction(cluster, shipped, { port: 0, environment: settings });
    await finish();
    before = await generations(client);
    await upgrade('1.29.0');
    await finish();
  });
  afterAll(async () => {
    client.close();
    await cluster.stop();
    await injector.close();
  });

  it('IR-1 IR-22 restarts a Deployment of 10 pods and its namesake of another kind once, at a time in UTC', async () => {
    const { spec } = expectCode(200, await client.call('GET', pathOfWorkload(cases.plain)));
    const { template } = spec as { template: { metadata: { annotations: Record<string, string> } } };

    expect(await Promise.all([cases.plain, cases.namesake].map(timesRestarted))).toEqual([1, 1]);
    expect(await Promise.all([cases.plain, cases.namesake].map(imagesOf))).toEqual([
      [imageOf('1.29.0')],
      [imageOf('1.29.0')],
    ]);
    expect(template.metadata.annotations[restarted]).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
  });

  it('IR-13 IR-14 IR-15 IR-16 restarts for another digest or variant, and not for a mirror or the tag latest', async () => {
    const { untagged, mirrored, digested, variant } = cases;

    expect(await Promise.all([untagged, mirrored].map(timesRestarted))).toEqual([0, 0]);
    expect(await Promise.all([digested, variant].map(timesRestarted))).toEqual([1, 1]);
  });

  it('IR-20 restarts once what has an evicted pod beside the new ones, however often one looks', async () => {
    const scans = await fn.metric('kube_reflex_istio_rollout_scans_total');
    await waitUntil('three more scans', async () => {
      await tick();
      return (await fn.metric('kube_reflex_istio_rollout_scans_total')) >= scans + 3;
    });

    expect(await timesRestarted(cases.evicted)).toBe(1);
  });

  it('IR-24 IR-25 reports what it may not restart, and restarts an Argo Rollout in its own way', async () => {
    const { spec } = expectCode(200, await client.call('GET', `${rollouts}/canary`));

    expect(await codeOf(cases.onDelete)).toBe('OnDelete');
    expect(await codeOf({ kind: 'Pod', name: 'bare' })).toBe('Unmanaged');
    expect(await timesRestarted(cases.onDelete)).toBe(0);
    expect(spec?.['restartAt']).toMatch(/^\d{4}-.*Z$/);
    expect(spec?.['template']).toEqual(rolloutTemplate);
  });

  it('IR-35 heeds the policy of a namespace, and that of a workload before it', async () => {
    expect([await timesRestarted(cases.left), await timesRestarted(cases.wanted)]).toEqual([0, 1]);
  });

  it('IR-23 IR-36 restarts a paused one when it goes on, by a tick alone, and leaves one whose window is closed', async () => {
    const waiting = [await codeOf(cases.paused), await codeOf(cases.windowed)];
    await mergePatch(client, pathOfWorkload(cases.paused), { spec: { paused: false } });
    await waitUntil('it is restarted', async () => {
      await tick();
      return (await imagesOf(cases.paused)).join() === imageOf('1.29.0');
    });

    expect(waiting).toEqual(['Paused', 'Window']);
    expect(await timesRestarted(cases.windowed)).toBe(0);
  });

  it('IR-34 reports in a dry run and writes to no workload', async () => {
    await finish();
    await fn.running.stop();
    fn = await startFunction(cluster, shipped, { port: 0, environment: { ...settings, DRY_RUN: 'true' } });
    const seen = readAudit(cluster).length;
    await upgrade('1.30.0');
    await waitUntil('it is reported', async () => {
      await tick();
      return (await codeOf(cases.plain)) === 'Queued';
    });

    const mine = readAudit(cluster)
      .slice(seen)
      .filter(
        ({ user, verb }) =>
          user.username === usernameOf('istio-rollout', 'events') && /patch|update|create|delete/.test(verb),
      );
    expect(mine.length).toBeGreaterThan(0);
    expect(new Set(mine.map(({ objectRef }) => objectRef?.resource))).toEqual(new Set(['configmaps']));
  });

  it('IR-38 without its state it restarts nothing twice', async () => {
    before = await generations(client);
    await fn.running.stop();
    fn = await startFunction(cluster, shipped, {
      port: 0,
      environment: { ...settings, MAX_IN_FLIGHT: '2', COOLDOWN: '15s' },
    });
    await waitUntil('the first is restarted', async () => {
      await tick();
      return (await timesRestarted(cases.plain)) === 1;
    });
    const state = '/api/v1/namespaces/kube-reflex/configmaps/istio-rollout-state';
    expectCode(200, await client.call('DELETE', state));
    await waitUntil('all are new', async () => {
      await tick();
      const images = await Promise.all([cases.plain, cases.namesake, cases.wanted].map(imagesOf));
      return new Set(images.flat()).size === 1 && images[0]?.[0] === imageOf('1.30.0');
    });

    expect(await Promise.all([cases.plain, cases.namesake, cases.wanted].map(timesRestarted))).toEqual([1, 1, 1]);
  });
});

/** An hour of the day that is half a day away. */
function closedWindow(): string {
  const hour = (new Date().getUTCHours() + 12) % 24;
  return `${String(hour).padStart(2, '0')}:00-${String(hour).padStart(2, '0')}:30`;
}
