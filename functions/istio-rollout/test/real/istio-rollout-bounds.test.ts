import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Running } from '../../../../lib/runtime/main.ts';
import { formatInstant } from '../../../../lib/time/instant.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import { readMetric } from '../../../../test/real/support/function.ts';
import { injectedInto, wouldInject } from './injection-oracle.ts';
import {
  configMapChanged,
  eager,
  openRolloutSite,
  rowOf,
  startHere,
  statePath,
  statusOf,
  stoppedClock,
  tell,
  tick,
  toldOf,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod, type Templates } from './istiod.ts';
import { startRewriter } from './rewriter.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  livePodsOf,
  mendPods,
  settled,
  type Template,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

const rolloutTimeout = 15 * 60;

/** Its pods are as ready as the control plane lets them be. */
const dependent: Template = { annotations: { 'inject.istio.io/templates': 'sidecar,own' } };

function deployment(namespace: string, name: string, template: Template = {}): Workload {
  return { kind: 'Deployment', namespace, name, template };
}

/** What the control plane adds to the pods that depend on it. */
function ownTemplate(readiness: 'as usual' | 'never'): Templates {
  return { own: JSON.stringify({ metadata: { annotations: { 'sandbox.kube-reflex.dev/ready': readiness } } }) };
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('what a run asks and restarts at most, with a real istiod', () => {
  let site: RolloutSite;
  let plane: Istiod;
  let instance: Running;
  let rewriter: { readonly close: () => void } | undefined;
  let before: ReadonlyMap<string, number>;
  let patch = 0;
  const clock = stoppedClock();

  beforeAll(async () => {
    site = await openRolloutSite();
    const templates = ownTemplate('as usual');
    plane = await startIstiod(site.cluster, site.client, { revision: 'default', tag: tag(), slot: 0, templates });
  });
  afterEach(() => instance.close());
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    rewriter?.close();
  });

  function tag(): string {
    return `1.29.${patch}`;
  }

  /** Workloads in a namespace of their own, and a function that knows no other. */
  async function open(
    [first, ...others]: readonly [Workload, ...Workload[]],
    { labels = { 'istio-injection': 'enabled' }, settings = {} }: { labels?: Labels; settings?: Labels } = {},
  ): Promise<void> {
    await createNamespace(site.client, first.namespace, labels);
    await createWorkloads(site.client, [first, ...others]);
    const environment = { ...eager, NAMESPACES: first.namespace, ...settings };
    instance = await startHere(site.cluster, { environment, now: clock.now });
    await tick(instance);
    before = await generations(site.client);
  }

  async function upgrade(readiness: 'as usual' | 'never' = 'as usual'): Promise<void> {
    patch += 1;
    await plane.configure(tag(), ownTemplate(readiness));
    await plane.injects(tag());
  }

  async function tickLater(seconds: number): Promise<void> {
    clock.turn(seconds);
    await tick(instance);
  }

  /** The event about the upgrade, and a tick after the time that istiod is given to read it. */
  async function notice(): Promise<void> {
    await tell(instance, configMapChanged('istio-sidecar-injector'));
    await tickLater(15);
  }

  async function restartsOf(...workloads: readonly Workload[]): Promise<readonly number[]> {
    const now = await generations(site.client);
    return workloads.map((each) => (now.get(identify(each)) ?? 0) - (before.get(identify(each)) ?? 0));
  }

  async function imagesOf(workload: Workload): Promise<readonly (string | undefined)[]> {
    return (await livePodsOf(site.client, workload)).map((pod) => injectedInto(pod)?.image);
  }

  function metric(name: string, labels?: Labels): Promise<number> {
    return readMetric(instance.url, `kube_reflex_istio_rollout_${name}`, labels);
  }

  /** How many pods were made there since, or not. */
  async function podsMade(namespace: string, since: number): Promise<number> {
    const calls = (await settledAudit(site.cluster, site.client)).slice(since);
    return calls.filter(
      ({ verb, objectRef }) =>
        verb === 'create' &&
        objectRef?.resource === 'pods' &&
        objectRef.subresource === undefined &&
        objectRef.namespace === namespace,
    ).length;
  }

  it('IR-1 a Deployment of 10 pods costs one probe and one patch', async () => {
    const web = { ...deployment('many', 'web'), replicas: 10 };
    await open([web]);
    await upgrade();
    const seen = (await settledAudit(site.cluster, site.client)).length;
    const [asked, probes] = [await plane.asked(), await metric('probes_total')];

    await notice();
    await settled(site.client, [web]);
    await tickLater(60);

    // Whoever makes a pod asks istiod as well.
    expect((await plane.asked()) - asked - (await podsMade('many', seen))).toBe(1);
    expect((await metric('probes_total')) - probes).toBe(1);
    expect(await restartsOf(web)).toEqual([1]);
    expect(await imagesOf(web)).toEqual(Array.from({ length: 10 }, () => proxyImage(tag())));
  });

  it('IR-7 nobody is asked about what istio-injection=disabled excludes, whatever its template says', async () => {
    const template = { labels: { 'istio.io/rev': 'default' } };
    const [web, elsewhere] = [deployment('off', 'web', template), deployment('default', 'web', template)];
    await open([web], { labels: { 'istio-injection': 'disabled' } });
    await upgrade();
    const attracted = await wouldInject(site.client, elsewhere);
    const counted = await counts();

    await notice();

    const [asked, probes, scans, skipped] = (await counts()).map((count, index) => count - (counted[index] ?? 0));
    expect(attracted?.image).toBe(proxyImage(tag())); // where the namespace says nothing
    expect([asked, probes]).toEqual([0, 0]);
    expect([scans, skipped]).toEqual([1, 1]);
    expect(await restartsOf(web)).toEqual([0]);
    expect(await imagesOf(web)).toEqual([undefined]);

    function counts(): Promise<readonly number[]> {
      const ours = [metric('probes_total'), metric('scans_total'), metric('skipped_total', { reason: 'NoInjector' })];
      return Promise.all([plane.asked(), ...ours]);
    }
  });

  it('IR-27 the second workload of a run never becomes ready: the run pauses and says so, and goes on afterwards', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) =>
      deployment('stuck', name, name === 'b' ? dependent : {}),
    ) as [Workload, Workload, Workload, Workload];
    await open([a, b, c, d], { settings: { MAX_IN_FLIGHT_PER_NAMESPACE: '1' } });
    await upgrade('never');

    await notice();
    const first = await restartsOf(a, b, c, d);
    await settled(site.client, [a]);
    await tickLater(60);
    const second = await restartsOf(a, b, c, d);
    await tickLater(rolloutTimeout + 1);
    const paused = await metric('run_paused');
    for (let count = 0; count < 3; count += 1) {
      await tickLater(60);
    }

    expect([first, second]).toEqual([
      [1, 0, 0, 0],
      [1, 1, 0, 0],
    ]);
    expect(await restartsOf(a, b, c, d)).toEqual([1, 1, 0, 0]);
    expect([paused, await metric('run_paused')]).toEqual([1, 1]);
    expect(await toldOf(site.client, 'RestartFailed')).toEqual(['b']);
    expect((await rowOf(instance, b))?.code).toBe('RolloutFailed');
    expect((await statusOf(instance)).paused).toContain(identify(b));

    await mendPods(site.client, b);
    for (const each of [b, c, d]) {
      await settled(site.client, [each]);
      await tickLater(60);
    }
    expect(await restartsOf(a, b, c, d)).toEqual([1, 1, 1, 1]);
    expect(await metric('run_paused')).toBe(0);
  });

  it('IR-31 restarts cannot help where another webhook rewrites the proxy: two are tried, and people are told once', async () => {
    const futile = deployment('futile', 'futile');
    await open([futile], { settings: { RECONCILE_PERIOD: '1m' } });
    rewriter = await startRewriter(site.client, { workload: futile, image: proxyImage('1.20.0') });
    await upgrade();

    await notice();
    const restarts = [await restartsOf(futile)];
    for (let count = 0; count < 4; count += 1) {
      await settled(site.client, [futile]);
      await tickLater(120);
      restarts.push(await restartsOf(futile));
    }

    expect(restarts).toEqual([[1], [2], [2], [2], [2]]);
    expect(await toldOf(site.client, 'RestartIneffective')).toEqual(['futile']);
    expect((await rowOf(instance, futile))?.code).toBe('Ineffective');
  });

  it('IR-38 without its state it knows what is under way, restarts nothing twice and heeds the cooldown', async () => {
    const [a, b] = [deployment('forgetful', 'a', dependent), deployment('forgetful', 'b')];
    await open([a, b], { settings: { MAX_IN_FLIGHT_PER_NAMESPACE: '1', COOLDOWN: '10m' } });
    await upgrade('never');
    await notice();
    const cooledDown = clock.now().getTime() + 600_000;

    await forget();
    await tickLater(30);
    const during = [await restartsOf(a, b), (await statusOf(instance)).counts.inflight];
    await mendPods(site.client, a);
    await settled(site.client, [a]);
    await upgrade(); // which outdates the restarted one again
    await forget();
    await tickLater(30);
    const waiting = await rowOf(instance, a);
    await settled(site.client, [b]);
    await tickLater((cooledDown - clock.now().getTime()) / 1000 - 1);
    const early = await restartsOf(a, b);
    await tickLater(1);

    expect(during).toEqual([[1, 0], 1]);
    expect(waiting).toMatchObject({ code: 'Cooldown', until: formatInstant(cooledDown) });
    expect([early, await restartsOf(a, b)]).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  async function forget(): Promise<void> {
    expectCode(200, await site.client.call('DELETE', statePath));
  }
});

type Labels = Readonly<Record<string, string>>;
