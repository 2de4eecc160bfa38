import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import type { Running } from '../../../../lib/runtime/main.ts';
import type { Pod } from '../../../../lib/kube/model/resource.ts';
import { injectedInto } from './injection-oracle.ts';
import {
  eager,
  finish,
  openRolloutSite,
  rowOf,
  startHere,
  stoppedClock,
  tick,
  toldOf,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod, type Templates } from './istiod.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  livePods,
  settled,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

/** A control plane may need ten minutes to read what is new: no pod of this suite is so young that nobody asks about it. */
const settings = { ...eager, ISTIOD_CONFIG_READ_DELAY: '10m', MAX_DEBOUNCE: '10m', RECONCILE_PERIOD: '1m' };
const [first, second] = ['1-29', '1-30'];

/** Proxies that a template of the control plane names itself, and names otherwise later. */
const proxies = {
  untagged: { before: 'registry:5000/istio/proxyv2', after: 'registry:5000/istio/proxyv2:latest' },
  mirrored: { before: 'docker.io/istio/proxyv2:1.29.0', after: 'mirror.example.com/istio/proxyv2:1.29.0' },
  digested: { before: `example.com/proxyv2:1@${digestOf('a')}`, after: `example.com/proxyv2:1@${digestOf('b')}` },
  variant: { before: 'docker.io/istio/proxyv2:1.29.0', after: 'docker.io/istio/proxyv2:1.29.0-distroless' },
};

function digestOf(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}

/** Those templates, at a time. */
function templatesOf(time: 'before' | 'after'): Templates {
  return Object.fromEntries(
    Object.entries(proxies).map(([name, { [time]: image }]) => [
      name,
      JSON.stringify({ spec: { containers: [{ name: 'istio-proxy', image }] } }),
    ]),
  );
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('real control planes with moods', () => {
  let site: RolloutSite;
  let plane: Istiod;
  let other: Istiod;
  let instance: Running;
  const clock = stoppedClock();
  const logged: Readonly<Record<string, unknown>>[] = [];

  beforeAll(async () => {
    site = await openRolloutSite();
    const { cluster, client } = site;
    [plane, other] = await Promise.all([
      startIstiod(cluster, client, { revision: first, tag: '1.29.0', slot: 0, native: true }),
      startIstiod(cluster, client, { revision: second, tag: '1.30.0', slot: 1 }),
    ]);
  });
  afterEach(() => instance.close());
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    instance = await startHere(site.cluster, {
      environment: { ...settings, ...more },
      now: clock.now,
      log: pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line) as Record<string, unknown>) }),
    });
  }

  async function open(namespace: string, revision: string, workloads: readonly Workload[]): Promise<void> {
    await createNamespace(site.client, namespace, { 'istio.io/rev': revision });
    await createWorkloads(site.client, workloads);
  }

  /** Scans with what istiod says by now, restarts what is to be restarted, and scans once more. */
  async function lookAndFinish(): Promise<void> {
    await tick(instance);
    clock.turn(900);
    await finish(instance, () => clock.turn(60));
  }

  /** How often the workloads were restarted by something. */
  async function restartsBy(workloads: readonly Workload[], work: () => Promise<void>): Promise<readonly number[]> {
    const before = await generations(site.client);
    await work();
    await settled(site.client, workloads);
    const after = await generations(site.client);
    return workloads.map((each) => (after.get(identify(each)) ?? 0) - (before.get(identify(each)) ?? 0));
  }

  async function podOf({ namespace, name }: Workload): Promise<Pod | undefined> {
    return (await livePods(site.client)).find(
      ({ metadata }) => metadata?.namespace === namespace && metadata.labels?.['app'] === name,
    );
  }

  async function imageOf(workload: Workload): Promise<string | undefined> {
    const pod = await podOf(workload);
    return pod && injectedInto(pod)?.image;
  }

  async function isNative(workload: Workload): Promise<boolean | undefined> {
    return (await podOf(workload))?.spec?.initContainers?.some(({ name }) => name === 'istio-proxy');
  }

  it('IR-12 another mode of the same proxy counts only if that is checked', async () => {
    const web: Workload = { kind: 'Deployment', namespace: 'modes', name: 'web' };
    await open('modes', first, [web]);
    const wasNative = await isNative(web);
    await plane.stop();
    await plane.start({ native: false });
    await plane.injects('1.29.0');

    await start();
    const byDefault = await restartsBy([web], lookAndFinish);
    await instance.close();
    await start({ DRIFT_CHECKS: 'image,missing,revision,mode' });
    const whenChecked = await restartsBy([web], lookAndFinish);

    expect([wasNative, byDefault, whenChecked]).toEqual([true, [0], [1]]);
    expect(await isNative(web)).toBe(false);
  });

  it('IR-18 a template that istiod refuses concerns that workload alone, which is told so', async () => {
    const good: Workload = { kind: 'Deployment', namespace: 'refusing', name: 'good' };
    const annotations = { 'inject.istio.io/templates': 'sidecar,extra' };
    const bad: Workload = { ...good, name: 'bad', template: { annotations } };
    await plane.configure('1.29.1', { extra: 'metadata:\n  annotations:\n    example.com/extra: "yes"\n' });
    await plane.injects('1.29.1');
    await open('refusing', first, [good, bad]);
    const { 'example.com/extra': extra } = (await podOf(bad))?.metadata?.annotations ?? {};

    await plane.configure('1.29.2'); // without the template that one of them asks for
    await plane.injects('1.29.2');
    await start({ NAMESPACES: 'refusing' });
    const restarts = await restartsBy([good, bad], lookAndFinish);

    expect([extra, restarts]).toEqual(['yes', [1, 0]]);
    expect(await rowOf(instance, bad)).toMatchObject({
      code: 'ConfigInvalid',
      detail: expect.stringContaining('template "extra" not found'),
    });
    expect(await toldOf(site.client, 'ConfigInvalid')).toEqual(['bad']);
  });

  it('IR-19 broken values of one revision leave the other alone, and are told once', async () => {
    const sound: Workload = { kind: 'Deployment', namespace: 'sound', name: 'web' };
    const broken: Workload = { kind: 'Deployment', namespace: 'broken', name: 'web' };
    await open('sound', first, [sound]);
    await open('broken', second, [broken]);
    await start({ NAMESPACES: 'sound,broken' });
    await lookAndFinish();
    logged.length = 0;

    await other.confuse();
    await plane.configure('1.29.3');
    await plane.injects('1.29.3');
    const restarts = await restartsBy([sound, broken], async () => {
      await lookAndFinish();
      await lookAndFinish();
    });

    const images = await Promise.all([sound, broken].map(imageOf));
    expect(restarts).toEqual([1, 0]);
    expect(images).toEqual([proxyImage('1.29.3'), proxyImage('1.30.0')]);
    expect(logged.filter(({ msg }) => msg === 'values of a control plane cannot be read')).toMatchObject([
      { configMap: `istio-system/istio-sidecar-injector-${second}` },
    ]);
  });

  it('IR-13 IR-14 IR-15 IR-16 another digest or variant counts, a mirror only if registries do, the tag latest never', async () => {
    const workloads = Object.keys(proxies).map((name): Workload => {
      const annotations = { 'inject.istio.io/templates': `sidecar,${name}` };
      return { kind: 'Deployment', namespace: 'images', name, template: { annotations } };
    });
    await plane.configure('1.29.4', templatesOf('before'));
    await plane.injects('1.29.4');
    await open('images', first, workloads);
    const before = await Promise.all(workloads.map(imageOf));
    await plane.configure('1.29.5', templatesOf('after'));
    await plane.injects('1.29.5');

    await start({ NAMESPACES: 'images' });
    const byDefault = await restartsBy(workloads, lookAndFinish);
    await instance.close();
    await start({ NAMESPACES: 'images', COMPARE_HUB: 'true' });
    const whenCompared = await restartsBy(workloads, lookAndFinish);

    const { untagged, mirrored, digested, variant } = proxies;
    expect(before).toEqual(Object.values(proxies).map((proxy) => proxy.before));
    expect([byDefault, whenCompared]).toEqual([
      [0, 0, 1, 1],
      [0, 1, 0, 0],
    ]);
    expect(await Promise.all(workloads.map(imageOf))).toEqual([
      untagged.before,
      mirrored.after,
      digested.after,
      variant.after,
    ]);
  });
});
