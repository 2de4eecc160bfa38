import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Pod } from '../../../../lib/kube/model/resource.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { startArgo, type Argo } from './argo.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import type { Cluster } from '../../../../test/real/parts/cluster.ts';
import { startFunction, usernameOf, type RealFunction } from '../../../../test/real/support/function.ts';
import { injectedInto } from './injection-oracle.ts';
import {
  clusterNames,
  configMapChanged,
  eager,
  finish,
  openRolloutSite,
  rowOf,
  shipped,
  statePath,
  statusOf,
  tell,
  tick,
  toldOf,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod } from './istiod.ts';
import { startStandIn, type StandIn } from './stand-in.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  livePods,
  mergePatch,
  pathOfWorkload,
  settled,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

const settings = { ...eager, ...clusterNames, RECONCILE_PERIOD: '2s' };
const annotation = 'istio-rollout.kube-reflex.dev';
const restarted = `${annotation}/restartedAt`;

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
  left: deployment('quiet', 'left'),
  wanted: deployment('quiet', 'wanted'),
  refused: deployment('strange', 'refused'),
  accepted: deployment('strange', 'accepted'),
} as const satisfies Readonly<Record<string, Workload>>;

/** What tells pods and rows of the status apart. */
type Described = Pick<Workload, 'name'> & { readonly kind: string };

const endlessJob = {
  metadata: { name: 'endless' },
  spec: {
    template: {
      metadata: {
        labels: { app: 'endless', kind: 'Job' },
        annotations: { 'sandbox.kube-reflex.dev/ready': 'never' },
      },
      spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app' }] },
    },
  },
};

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('one upgrade of a real istiod', () => {
  let site: RolloutSite;
  let cluster: Cluster;
  let client: Client;
  let plane: Istiod;
  let standIn: StandIn;
  let argo: Argo;
  let fn: RealFunction;
  let before: ReadonlyMap<string, number>;

  async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    fn = await startFunction(cluster, shipped, { port: 0, environment: { ...settings, ...more } });
  }

  async function codeOf(workload: Described): Promise<string | undefined> {
    return (await rowOf(fn, workload))?.code;
  }

  async function upgrade(tag: string): Promise<void> {
    await plane.configure(tag);
    await plane.injects(tag);
  }

  async function tellOfUpgrade(): Promise<void> {
    await tell(fn, configMapChanged('istio-sidecar-injector'));
  }

  async function timesRestarted(workload: Workload): Promise<number> {
    return ((await generations(client)).get(identify(workload)) ?? 0) - (before.get(identify(workload)) ?? 0);
  }

  async function podsOf({ kind, name }: Described): Promise<readonly Pod[]> {
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
    for (const name of ['shop', 'quiet']) {
      await createNamespace(client, name, { 'istio-injection': 'enabled' });
    }
    await createNamespace(client, 'strange', { 'istio.io/rev': 'strange' });
    await mergePatch(client, '/api/v1/namespaces/quiet', {
      metadata: { annotations: { [`${annotation}/policy`]: 'ignore' } },
    });
    await createWorkloads(client, Object.values(cases));
    const bare = { metadata: { name: 'bare' }, spec: { containers: [{ name: 'app', image: 'app' }] } };
    expectCode(201, await client.call('POST', '/api/v1/namespaces/shop/pods', { body: bare }));
    expectCode(201, await client.call('POST', '/apis/batch/v1/namespaces/shop/jobs', { body: endlessJob }));
    const ofJob = { kind: 'Job', name: endlessJob.metadata.name };
    await waitUntil('the Job has its pod', async () => (await podsOf(ofJob)).length === 1);
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
    plane = await startIstiod(cluster, client, { revision: 'default', tag: '1.28.4', slot: 0 });
    standIn = await startStandIn(client, { revision: 'strange', tag: '1.28.4', refuses: cases.refused.name });
    await fill();
    argo = await startArgo(client);
    await start();
    await finish(fn, argo.play);
    before = await generations(client);
    await upgrade('1.29.0');
    await standIn.upgrade('1.29.0');
    await evictPod(); // its replacement has the new proxy already
    await tellOfUpgrade();
    await tell(fn, configMapChanged('istio-sidecar-injector-strange'));
    await finish(fn, argo.play);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await standIn.close();
  });

  it('IR-1 IR-22 restarts a Deployment of 10 pods and its namesake of another kind once, at a time in UTC', async () => {
    const { spec } = expectCode(200, await client.call('GET', pathOfWorkload(cases.plain)));
    const { template } = spec as { template: { metadata: { annotations: Record<string, string> } } };

    expect(await Promise.all([cases.plain, cases.namesake].map(timesRestarted))).toEqual([1, 1]);
    expect(await Promise.all([cases.plain, cases.namesake].map(imagesOf))).toEqual([
      [proxyImage('1.29.0')],
      [proxyImage('1.29.0')],
    ]);
    expect(template.metadata.annotations[restarted]).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
  });

  it('IR-18 leaves what an injector refuses without a word, and that alone', async () => {
    expect(await codeOf(cases.refused)).toBe('ConfigInvalid');
    expect([await timesRestarted(cases.refused), await timesRestarted(cases.accepted)]).toEqual([0, 1]);
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
    expect(images.toSorted()).toEqual([proxyImage('1.28.4'), proxyImage('1.29.0')]);
    expect(await timesRestarted(cases.evicted)).toBe(0);
  });

  it('IR-24 IR-25 reports what it may not restart, and restarts an Argo Rollout in its own way', async () => {
    const { spec } = expectCode(200, await client.call('GET', argo.path));

    expect(await codeOf(cases.onDelete)).toBe('OnDelete');
    expect(await codeOf({ kind: 'Pod', name: 'bare' })).toBe('Unmanaged');
    expect((await statusOf(fn)).workloads.filter(({ code }) => code === 'Job')).toHaveLength(1);
    expect(await timesRestarted(cases.onDelete)).toBe(0);
    expect(await toldOf(client, 'ManualRestartRequired')).toEqual([cases.onDelete.name]);
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
      return (await imagesOf(cases.paused)).join() === proxyImage('1.29.0');
    });

    expect(waiting).toEqual(['Paused', 'Window']);
    expect(await timesRestarted(cases.windowed)).toBe(0);
  });

  it('IR-34 lists all in a dry run that it would restart, and what it would not, and writes to no workload', async () => {
    await finish(fn, argo.play);
    await fn.running.stop();
    await start({ DRY_RUN: 'true' });
    const seen = (await settledAudit(cluster, client)).length;
    await upgrade('1.30.0');
    await tellOfUpgrade();
    const { workloads } = await waitFor('all is looked at', async () => {
      await tick(fn);
      const status = await statusOf(fn);
      const isOpen = status.pending !== undefined || status.workloads.some(({ code }) => code === 'Queued');
      return isOpen || (await codeOf(cases.plain)) !== 'DryRun' ? undefined : status;
    });
    const listed = workloads.map(({ kind, namespace, name, code }) => `${kind} ${namespace}/${name} ${code}`);
    const jobPod = (await podsOf({ kind: 'Job', name: endlessJob.metadata.name }))[0]?.metadata?.name ?? '';
    const outdated = ['evicted', 'namesake', 'paused', 'plain', 'wanted'] as const;
    expect(listed.toSorted()).toEqual(
      [
        ...outdated.map((name) => `${identify(cases[name])} DryRun`),
        'Rollout shop/canary DryRun',
        `${identify(cases.windowed)} Window`,
        `${identify(cases.onDelete)} OnDelete`,
        `${identify(cases.left)} OptedOut`,
        `${identify(cases.refused)} ConfigInvalid`,
        'Pod shop/bare Unmanaged',
        `Pod shop/${jobPod} Job`,
      ].sort(),
    );
    for (const { expected } of workloads.filter(({ code }) => code === 'DryRun')) {
      expect(expected).toBe(proxyImage('1.30.0'));
    }

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
    expectCode(200, await client.call('DELETE', statePath));
    await waitUntil('all are new', async () => {
      await tick(fn);
      const images = await Promise.all([cases.plain, cases.namesake, cases.wanted].map(imagesOf));
      return new Set(images.flat()).size === 1 && images[0]?.[0] === proxyImage('1.30.0');
    });

    expect(await Promise.all([cases.plain, cases.namesake, cases.wanted].map(timesRestarted))).toEqual([1, 1, 1]);
  });
});

/** An hour of the day that is half a day away. */
function closedWindow(): string {
  const hour = (new Date().getUTCHours() + 12) % 24;
  return `${String(hour).padStart(2, '0')}:00-${String(hour).padStart(2, '0')}:30`;
}
