import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Running } from '../../../../lib/runtime/main.ts';
import { formatInstant } from '../../../../lib/time/instant.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { startBystander } from './bystander.ts';
import { usernameOf } from '../../../../test/real/support/function.ts';
import { injectedInto } from './injection-oracle.ts';
import {
  eager,
  openRolloutSite,
  rowOf,
  startHere,
  statusOf,
  stoppedClock,
  tick,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { startIstiod, type Istiod } from './istiod.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
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

const restarted = 'istio-rollout.kube-reflex.dev/restartedAt';
const account = usernameOf('istio-rollout', 'events');

function deployment(namespace: string, name: string): Workload {
  return { kind: 'Deployment', namespace, name };
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('restarts at their time, with a real istiod', () => {
  let site: RolloutSite;
  let plane: Istiod;
  let instance: Running;
  let patch = 0;
  const clock = stoppedClock();

  beforeAll(async () => {
    site = await openRolloutSite();
    plane = await startIstiod(site.cluster, site.client, { revision: 'default', tag: '1.29.0', slot: 0 });
  });
  afterEach(() => instance.close());
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  async function start(namespace: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const environment = { ...eager, NAMESPACES: namespace, ...settings };
    instance = await startHere(site.cluster, { environment, now: clock.now });
  }

  async function tickLater(seconds: number): Promise<void> {
    clock.turn(seconds);
    await tick(instance);
  }

  /** Workloads that become outdated, in a namespace of their own, and a function that has not noticed yet. */
  async function openOutdated(
    [first, ...others]: readonly [Workload, ...Workload[]],
    settings?: Readonly<Record<string, string>>,
  ): Promise<void> {
    await createNamespace(site.client, first.namespace, { 'istio-injection': 'enabled' });
    await createWorkloads(site.client, [first, ...others]);
    await start(first.namespace, settings);
    await tick(instance);
    patch += 1;
    await plane.configure(newTag());
    await plane.injects(newTag());
  }

  function newTag(): string {
    return `1.29.${patch}`;
  }

  /** One tick sees that the ConfigMap is another, the next one that istiod had its time to read it. */
  async function notice(): Promise<void> {
    await tickLater(60);
    await tickLater(15);
  }

  /** When a workload was restarted; undefined if it was not, or is gone. */
  async function restartOf(workload: Workload): Promise<string | undefined> {
    const { spec = {} } = (await site.client.call('GET', pathOfWorkload(workload))).body;
    const { template } = spec as { template?: { metadata?: { annotations?: Record<string, string> } } };
    return template?.metadata?.annotations?.[restarted];
  }

  async function tagsOf({ namespace, name }: Workload): Promise<readonly (string | undefined)[]> {
    const mine = (await livePods(site.client)).filter(
      ({ metadata }) => metadata?.namespace === namespace && metadata.labels?.['app'] === name,
    );
    return mine.map((pod) => injectedInto(pod)?.image.split(':').at(-1)).sort();
  }

  async function generationOf(workload: Workload): Promise<number | undefined> {
    return (await generations(site.client)).get(identify(workload));
  }

  it('IR-21 a rollout that replaces the old pods already is not patched again, long after the cooldown', async () => {
    const web = deployment('replacing', 'web');
    await openOutdated([web], { RECONCILE_PERIOD: '1m', COOLDOWN: '1m' });
    const annotations = { 'sandbox.kube-reflex.dev/ready': 'never' };
    await mergePatch(site.client, pathOfWorkload(web), { spec: { template: { metadata: { annotations } } } });
    await waitUntil('a new pod is beside the old one', async () => (await tagsOf(web)).length === 2);
    const before = await generationOf(web);

    await notice();
    for (let count = 0; count < 4; count += 1) {
      await tickLater(120);
    }

    expect(await tagsOf(web)).toEqual([`1.29.${patch - 1}`, newTag()]);
    expect(await generationOf(web)).toBe(before);
  });

  it('IR-30 the delay between restarts holds although the instance is another', async () => {
    const [a, b] = [deployment('paced', 'a'), deployment('paced', 'b')];
    const settings = { RESTART_DELAY: '10s' };
    await openOutdated([a, b], settings);
    await tickLater(60);
    await tickLater(15.9); // the annotation tells no fractions of a second
    await instance.close();
    await start('paced', settings);

    await tickLater(9.9);
    const early = [await restartOf(a), await restartOf(b)];
    await tickLater(0.1);

    expect(early).toEqual([formatInstant(clock.now().getTime() - 10_000), undefined]);
    expect(await restartOf(b)).toBe(formatInstant(clock.now().getTime()));
  });

  it('IR-36 while the window is closed restarts wait for it, and a tick is enough when it opens', async () => {
    const web = deployment('windowed', 'web');
    const opening = new Date(clock.now().getTime() + 6 * 3_600_000);
    const [from, to] = [opening.getUTCHours(), (opening.getUTCHours() + 1) % 24].map((hour) => twoDigits(hour));
    await openOutdated([web], { WINDOW: `${from ?? ''}:00-${to ?? ''}:00` });
    await notice();
    const closed = await rowOf(instance, web);
    const early = await restartOf(web);

    await tickLater(6 * 3600);

    expect([closed?.code, early]).toEqual(['Window', undefined]);
    expect(Date.parse(closed?.until ?? '')).toBe(Math.floor(opening.getTime() / 3_600_000) * 3_600_000);
    expect(await restartOf(web)).toBe(formatInstant(clock.now().getTime()));
  });

  it('IR-32 a change that a user makes at the same moment is kept, and looked at before any restart', async () => {
    const web = deployment('contested', 'web');
    await openOutdated([web]);
    const before = (await generationOf(web)) ?? 0;
    const image = 'example.com/app:2';
    const operations = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
    const headers = { 'content-type': 'application/json-patch+json' };
    await using _user = await startBystander(site.client, { username: account, workload: web }, async () => {
      expectCode(200, await site.client.call('PATCH', pathOfWorkload(web), { body: operations, headers }));
    });

    await notice();
    await settled(site.client, [web]);
    await tickLater(60);

    const { spec } = expectCode(200, await site.client.call('GET', pathOfWorkload(web)));
    const { counts } = await statusOf(instance);
    expect(spec).toMatchObject({ template: { spec: { containers: [{ image }] } } });
    expect(await tagsOf(web)).toEqual([newTag()]);
    expect(await generationOf(web)).toBe(before + 1); // the user's rollout brought the proxy as well
    expect(counts).toMatchObject({ queued: 0, inflight: 0, failed: 0 });
  });

  it('IR-33 a workload that is deleted at that moment is no error, and the run goes on', async () => {
    const [first, second] = [deployment('shrinking', 'first'), deployment('shrinking', 'second')];
    await openOutdated([first, second]);
    await using _user = await startBystander(site.client, { username: account, workload: first }, async () => {
      expectCode(200, await site.client.call('DELETE', pathOfWorkload(first)));
    });

    await notice(); // every tick is answered 204
    await settled(site.client, [second]);
    await tickLater(60);

    expect([await generationOf(first), await tagsOf(second)]).toEqual([undefined, [newTag()]]);
    expect((await statusOf(instance)).counts).toEqual({ outdated: 0, queued: 0, inflight: 0, failed: 0, blocked: 0 });
  });
});

function twoDigits(hour: number): string {
  return String(hour).padStart(2, '0');
}
