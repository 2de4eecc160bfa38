import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { injection } from '../../functions/istio-rollout/sandbox/inject.ts';
import type { Pod } from '../../lib/kube/resource.ts';
import type { AdmissionRequest } from '../../lib/review/review.ts';
import type { Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import type { Injector } from '../injector/injector.ts';
import { startArgo, type Argo } from './argo.ts';
import { settledAudit } from './audit.ts';
import type { Cluster } from './cluster.ts';
import { startFunction, usernameOf, type RealFunction } from './function.ts';
import { injectedInto } from './injection-oracle.ts';
import { eager, finish, openRolloutSite, rowOf, shipped, tick, type RolloutSite } from './istio-rollout-site.ts';
import { imageOf, patchOf, publish, startStandIn, tellOfUpgrade, type Answer } from './stand-in.ts';
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

const settings = { ...eager, RECONCILE_PERIOD: '2s' };
const annotation = 'istio-rollout.kube-reflex.dev';
const restarted = `${annotation}/restartedAt`;

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

/** Another image for some, a refusal without a word for one, and nothing special for the others. */
function rewritten({ object, dryRun }: AdmissionRequest): Answer | undefined {
  const app = object?.metadata?.labels?.['app'] ?? '';
  const image = later[app];
  if (dryRun === true && app === 'refused') {
    return { allowed: false };
  }
  if (image === undefined || object === null) {
    return undefined;
  }
  const annotations = { ...object.metadata?.annotations, 'sidecar.istio.io/proxyImage': image };
  const pod: Pod = { ...object, metadata: { ...object.metadata, annotations } };
  return patchOf(injection(pod, { revision: 'default', image }));
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
  refused: deployment('shop', 'refused'),
  untagged: deployment('images', 'untagged', { template: fixed('registry:5000/istio/proxyv2') }),
  digested: deployment('images', 'digested', { template: fixed(`example.com/proxyv2:1@sha256:${'a'.repeat(64)}`) }),
  mirrored: deployment('images', 'mirrored', { template: fixed('docker.io/istio/proxyv2:1.29.0') }),
  variant: deployment('images', 'variant', { template: fixed('docker.io/istio/proxyv2:1.29.0') }),
  left: deployment('quiet', 'left'),
  wanted: deployment('quiet', 'wanted'),
} as const satisfies Readonly<Record<string, Workload>>;

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('one upgrade, seen on the real API server', () => {
  let site: RolloutSite;
  let cluster: Cluster;
  let client: Client;
  let injector: Injector;
  let argo: Argo;
  let fn: RealFunction;
  let before: ReadonlyMap<string, number>;

  async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    fn = await startFunction(cluster, shipped, { port: 0, environment: { ...settings, ...more } });
  }

  async function codeOf(workload: Pick<Workload, 'name'> & { readonly kind: string }): Promise<string | undefined> {
    return (await rowOf(fn, workload))?.code;
  }

  async function upgrade(tag: string): Promise<void> {
    injector.behave({ image: imageOf(tag), answer: rewritten });
    await publish(client, tag);
    await tellOfUpgrade(fn);
    await pause(1_000);
  }

  async function timesRestarted(workload: Workload): Promise<number> {
    return ((await generations(client)).get(identify(workload)) ?? 0) - (before.get(identify(workload)) ?? 0);
  }

  async function podsOf({ kind, name }: Workload): Promise<readonly Pod[]> {
    return (await livePods(client)).filter(
      ({ metadata }) => metadata?.labels?.['app'] === name && metadata.labels['kind'] === kind,
    );
  }

  async function imagesOf(workload: Workload): Promise<readonly (string | undefined)[]> {
    const running = (await podsOf(workload)).filter(({ status }) => status?.phase !== 'Failed');
    return [...new Set(running.map((pod) => injectedInto(pod)?.image))];
  }

  async function annotate(workload: Workload, annotations: Readonly<Record<string, string>>): Promise<void> {
    await mergePatch(client, pathOfWorkload(workload), { metadata: { annotations } });
  }

  /** What a kubelet that ran out of memory leaves behind: a failed pod beside the one that takes its place. */
  async function evictPod(): Promise<void> {
    const [pod] = await podsOf(cases.evicted);
    const path = `/api/v1/namespaces/${pod?.metadata?.namespace ?? ''}/pods/${pod?.metadata?.name ?? ''}/status`;
    await mergePatch(client, path, { status: { phase: 'Failed', reason: 'Evicted' } });
    await waitUntil('another takes its place', async () => (await podsOf(cases.evicted)).length === 2);
    await settled(client, [cases.evicted]);
  }

  async function fill(): Promise<void> {
    for (const name of ['shop', 'images', 'quiet']) {
      await createNamespace(client, name, { 'istio-injection': 'enabled' });
    }
    await mergePatch(client, '/api/v1/namespaces/quiet', {
      metadata: { annotations: { [`${annotation}/policy`]: 'ignore' } },
    });
    await createWorkloads(client, Object.values(cases));
    const bare = { metadata: { name: 'bare' }, spec: { containers: [{ name: 'app', image: 'app' }] } };
    expectCode(201, await client.call('POST', '/api/v1/namespaces/shop/pods', { body: bare }));
    await annotate(cases.wanted, { [`${annotation}/policy`]: 'auto' });
    await annotate(cases.windowed, { [`${annotation}/window`]: closedWindow() });
    await mergePatch(client, pathOfWorkload(cases.paused), { spec: { paused: true } });
    await mergePatch(client, pathOfWorkload(cases.onDelete), {
      spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
    });
  }

  beforeAll(async () => {
    site = await openRolloutSite();
    ({ cluster, client } = site);
    injector = await startStandIn(client, '1.28.4');
    await fill();
    argo = await startArgo(client);
    await start();
    await finish(fn, argo.play);
    before = await generations(client);
    injector.behave({ image: imageOf('1.29.0') });
    await evictPod(); // its replacement has the new proxy already
    await upgrade('1.29.0');
    await finish(fn, argo.play);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
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

  it('IR-18 leaves what the injector refuses without a word, and that alone', async () => {
    expect(await codeOf(cases.refused)).toBe('ConfigInvalid');
    expect(await timesRestarted(cases.refused)).toBe(0);
  });

  it('IR-20 never restarts for an evicted pod with the old proxy beside a new one, however often one looks', async () => {
    const scans = await fn.metric('kube_reflex_istio_rollout_scans_total');
    await waitUntil('three more scans', async () => {
      await tick(fn);
      return (await fn.metric('kube_reflex_istio_rollout_scans_total')) >= scans + 3;
    });

    const pods = await podsOf(cases.evicted);
    const images = pods.map((pod) => injectedInto(pod)?.image);
    expect(new Set(pods.map(({ metadata }) => metadata?.labels?.['pod-template-hash'])).size).toBe(1);
    expect(images.toSorted()).toEqual([imageOf('1.28.4'), imageOf('1.29.0')]);
    expect(await timesRestarted(cases.evicted)).toBe(0);
  });

  it('IR-24 IR-25 reports what it may not restart, and restarts an Argo Rollout in its own way', async () => {
    const { spec } = expectCode(200, await client.call('GET', argo.path));

    expect(await codeOf(cases.onDelete)).toBe('OnDelete');
    expect(await codeOf({ kind: 'Pod', name: 'bare' })).toBe('Unmanaged');
    expect(await timesRestarted(cases.onDelete)).toBe(0);
    expect(spec?.['restartAt']).toMatch(/^\d{4}-.*Z$/);
    expect(spec?.['template']).toEqual(argo.template);
  });

  it('IR-35 heeds the policy of a namespace, and that of a workload before it', async () => {
    expect([await timesRestarted(cases.left), await timesRestarted(cases.wanted)]).toEqual([0, 1]);
  });

  it('IR-23 IR-36 restarts a paused one when it goes on, by a tick alone, and leaves one whose window is closed', async () => {
    const waiting = [await codeOf(cases.paused), await codeOf(cases.windowed)];
    await mergePatch(client, pathOfWorkload(cases.paused), { spec: { paused: false } });
    await waitUntil('it is restarted', async () => {
      await tick(fn);
      return (await imagesOf(cases.paused)).join() === imageOf('1.29.0');
    });

    expect(waiting).toEqual(['Paused', 'Window']);
    expect(await timesRestarted(cases.windowed)).toBe(0);
  });

  it('IR-34 reports in a dry run and writes to no workload', async () => {
    await finish(fn, argo.play);
    await fn.running.stop();
    await start({ DRY_RUN: 'true' });
    const seen = (await settledAudit(cluster, client)).length;
    await upgrade('1.30.0');
    await waitUntil('it is reported', async () => {
      await tick(fn);
      return (await codeOf(cases.plain)) === 'Queued';
    });

    const mine = (await settledAudit(cluster, client))
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
    await start({ MAX_IN_FLIGHT: '2', COOLDOWN: '15s' });
    await waitUntil('the first is restarted', async () => {
      await tick(fn);
      return (await timesRestarted(cases.plain)) === 1;
    });
    const state = '/api/v1/namespaces/kube-reflex/configmaps/istio-rollout-state';
    expectCode(200, await client.call('DELETE', state));
    await waitUntil('all are new', async () => {
      await tick(fn);
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
