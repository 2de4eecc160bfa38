import { afterEach, describe, expect, it } from '@jest/globals';
import {
  configMaps,
  deployments,
  podDisruptionBudgets,
  pods,
  statefulSets,
  type ConfigMap,
} from '../../../lib/kube/model/resource.ts';
import type { FaultEffect } from '../../../lib/sandbox/server/faults.ts';
import { newImage, oldImage, patchedTo, until } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const priority = 'istio-rollout.kube-reflex.dev/priority';

/** Deployments that come up in this order. */
async function openOutdated(settings: Readonly<Record<string, string>>, names = ['web']): Promise<void> {
  const shapes = names.map((name, index) => [name, { annotations: { [priority]: String(index) } }] as const);
  world = await World.openOutdated(settings, Object.fromEntries(shapes));
}

describe('an instance that stood still after its intent', () => {
  it('sends no patch that others have long taken for lost', async () => {
    await openOutdated({});
    world.onIntent(() => world.turn(40));

    await world.tickLater(15);
    const late = [...world.restarts];
    await world.drive();

    expect(late).toEqual([]);
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });
});

describe('an instance whose clock is wrong', () => {
  it.each([-40_000, 40_000])('counts for lost neither too soon nor too late: %i ms', async (aheadMs) => {
    await openOutdated({ MAX_IN_FLIGHT: '1' }, ['a', 'b']);
    const other = await world.start();
    const wrong = await world.start({}, { aheadMs });
    world.sandbox.faults.add({
      verb: 'patch',
      resource: 'deployments',
      times: 1,
      effect: { do: 'cut', when: 'before' },
    });
    world.turn(60);
    await world.tick(wrong);

    await world.tick(other); // the patch may still be on its way
    const meanwhile = world.state();
    world.turn(35);
    await world.tick(other);

    expect(meanwhile.inflight).toMatchObject([{ name: 'a', phase: 'Intent' }]);
    expect(world.restarts).toEqual(['Deployment shop/b']); // a waits a moment after what it met
    expect(Math.abs(((await world.metric('clock_skew_seconds')) ?? 0) + aheadMs / 1000)).toBeLessThanOrEqual(1);
    expect(world.warnings('the clock of this machine is not that of the API server')).toBe(1);
  });
});

describe('trouble with one workload', () => {
  it.each([403, 500] as const)('when the API server answers %i about it the others are restarted', async (status) => {
    await openOutdated({ MAX_IN_FLIGHT_PER_NAMESPACE: '5' }, ['first', 'second', 'third']);
    const message = 'deployments.apps "first" is forbidden: User "x" cannot patch resource "deployments"';
    const remove = world.sandbox.faults.add({
      verb: 'patch',
      resource: 'deployments',
      name: 'first',
      effect: { do: 'refuse', status, message },
    });

    world.turn(15);
    expect(await world.tick()).toBe(204);
    const meanwhile = [...world.restarts];
    remove();
    await world.drive();

    expect(meanwhile).toEqual(['Deployment shop/second', 'Deployment shop/third']);
    expect(world.restarts).toEqual([...meanwhile, 'Deployment shop/first']);
  });

  it('it comes back in the place that its priority gives it', async () => {
    await openOutdated({ COOLDOWN: '0', MAX_IN_FLIGHT: '1' }, ['first', 'second', 'third']);
    world.sandbox.faults.add({
      verb: 'get',
      resource: 'deployments',
      name: 'first',
      times: 1,
      effect: { do: 'refuse', status: 500 },
    });

    await world.tickLater(15);
    await world.settle();
    await world.drive();

    expect(world.restarts).toEqual(['second', 'first', 'third'].map((name) => `Deployment shop/${name}`));
  });

  it('ends the pass when it is the API server that is in trouble', async () => {
    await openOutdated({}, ['a', 'b', 'c', 'd', 'e']);
    world.sandbox.faults.add({ verb: 'get', resource: 'deployments', effect: { do: 'refuse', status: 503 } });

    world.turn(15);
    expect(await world.tick()).toBe(503);
    const asked = world.sandbox.faults.fired.length;
    world.sandbox.faults.clear();
    await world.drive();

    expect(asked).toBe(3);
    expect(world.restarts).toHaveLength(5);
  });
});

describe('evictions that cannot help', () => {
  it('end after maxAttempts, each pod once in each of them', async () => {
    world = await World.open({ ON_DELETE_ACTION: 'evict', COOLDOWN: '1m' });
    await world.workload(statefulSets, 'db', { replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } });
    await world.tick();
    world.injector.behave({
      answer: ({ dryRun, object }) => (dryRun === true ? undefined : patchedTo(object ?? {}, oldImage)),
    });
    const evicted: string[] = [];
    world.sandbox.api.subscribe(pods, ({ type, object }) => {
      if (type === 'DELETED') {
        evicted.push(object.metadata?.name ?? '');
      }
    });

    await world.upgrade();
    for (let count = 0; count < 15; count += 1) {
      await world.tickLater(90);
      await until('two pods', () => world.podsOf('db').length === 2 && world.isSettled(statefulSets, 'db'));
    }

    expect(evicted.toSorted()).toEqual(['db-0', 'db-0', 'db-1', 'db-1']);
    expect(world.eventsOf('RestartIneffective')).toEqual(['db']);
    expect(await world.row('db')).toMatchObject({ code: 'Ineffective' });
  });
});

describe('what the state alone remembers to be in vain', () => {
  it('is tried again once somebody asks for a scan there, and not by a scan elsewhere', async () => {
    world = await World.open({ ON_DELETE_ACTION: 'evict', MAX_ATTEMPTS: '1', RECONCILE_PERIOD: '10m' });
    await world.namespace('elsewhere', { 'istio-injection': 'enabled' });
    await world.workload(statefulSets, 'db', { spec: { updateStrategy: { type: 'OnDelete' } } });
    await world.tick();
    world.injector.behave({
      answer: ({ dryRun, object }) => (dryRun === true ? undefined : patchedTo(object ?? {}, oldImage)),
    });
    await world.upgrade();
    await world.tickLater();
    await until('it is replaced', () => world.podsOf('db').length === 1 && world.isSettled(statefulSets, 'db'));
    await world.tickLater();
    world.injector.behave({ answer: () => undefined });

    await world.tickLater(700);
    await world.command('scan', 'elsewhere');
    await world.tickLater();
    const left = [world.state().blocked.map(({ reason }) => reason), world.imagesOf('db')];
    await world.command('scan', 'shop');
    await world.tickLater();
    await until('it is replaced again', () => world.imagesOf('db')[0] === newImage);

    expect(left).toEqual([['Ineffective'], [oldImage]]);
  });
});

describe('evictions one by one', () => {
  it('go on where they were once an injector that could not be asked in between answers again', async () => {
    world = await World.open({ ON_DELETE_ACTION: 'evict', COOLDOWN: '0' });
    await world.workload(statefulSets, 'db', { replicas: 2, spec: { updateStrategy: { type: 'OnDelete' } } });
    await world.tick();
    await world.upgrade();
    await world.tickLater(15);
    await until('the first is replaced', () => world.imagesOf('db').includes(newImage));
    await until('two pods', () => world.podsOf('db').length === 2 && world.isSettled(statefulSets, 'db'));

    const patch = Buffer.from('no patch at all').toString('base64');
    world.injector.behave({
      answer: ({ dryRun }) => (dryRun === true ? { allowed: true, patchType: 'JSONPatch', patch } : undefined),
    });
    await world.tickLater();
    const meanwhile = [...world.eventsOf('RestartCompleted')];
    world.injector.behave({ answer: () => undefined });
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater();
      await until('two pods', () => world.podsOf('db').length === 2 && world.isSettled(statefulSets, 'db'));
    }

    expect(meanwhile).toEqual([]);
    expect(world.imagesOf('db')).toEqual([newImage]);
    expect(world.eventsOf('RestartCompleted')).toEqual(['db']);
  });
});

describe('failed rollouts', () => {
  it('keep their place in the wave until they recover, although the run goes on', async () => {
    const limits = { MAX_IN_FLIGHT: '2', MAX_IN_FLIGHT_PER_NAMESPACE: '2', FAILURE_THRESHOLD: '0' };
    await openOutdated({ ...limits, ROLLOUT_TIMEOUT: '1m' }, ['a', 'b', 'c']);
    world.breakPods(newImage, 'a', 'b');
    await world.tickLater(15);
    await world.tickLater(120);
    await world.tickLater(120);
    const whileBroken = [...world.restarts];
    const { counts } = await world.status();
    expect(await world.row('a')).toMatchObject({ code: 'RolloutFailed' });

    world.injector.behave({ answer: () => undefined });
    await world.removePods('a');
    await until('a is up', () => world.isSettled(deployments, 'a'));
    await world.tickLater();

    expect(whileBroken).toEqual(['Deployment shop/a', 'Deployment shop/b']);
    expect(counts).toMatchObject({ queued: 1, inflight: 0, failed: 2 });
    expect(world.restarts).toEqual([...whileBroken, 'Deployment shop/c']);
  });
});

describe('a control plane whose proxies do not get ready', () => {
  it.each<{ readonly although: string; readonly effect?: FaultEffect }>([
    { although: 'at once' },
    { although: 'although the first patch meets a conflict', effect: { do: 'refuse', status: 409 } },
    { although: 'although the first patch is refused', effect: { do: 'refuse', status: 403 } },
    { although: 'although the first patch is lost', effect: { do: 'cut', when: 'before' } },
  ])('is mended by the next version $although: what failed goes first, then the rest', async ({ effect }) => {
    await openOutdated({ ROLLOUT_TIMEOUT: '1m' }, ['a', 'b']);
    world.breakPods(newImage, 'a', 'b');
    await world.tickLater(15);
    await world.tickLater(120);
    expect((await world.status()).paused).toContain('Deployment shop/a');
    const mended = newImage.replace('1.29.0', '1.29.1');
    if (effect !== undefined) {
      world.sandbox.faults.add({ verb: 'patch', resource: 'deployments', times: 1, effect });
    }

    world.injector.behave({ answer: () => undefined });
    await world.upgrade(mended);
    await world.tickLater();
    await world.tickLater();
    await world.drive();

    expect(world.restarts).toEqual(['a', 'a', 'b'].map((name) => `Deployment shop/${name}`));
    expect([world.imagesOf('a'), world.imagesOf('b')]).toEqual([[mended], [mended]]);
  });
});

describe('a disruption budget that a failed rollout has used up', () => {
  it('does not hold up the version that mends it', async () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };
    world = await World.openOutdated({ ROLLOUT_TIMEOUT: '1m' }, { web: { replicas: 4, spec: { strategy } } });
    await world.create(podDisruptionBudgets, {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await until('it allows one', () => disruptionsAllowed() === 1);
    world.breakPods(newImage, 'web');
    await world.tickLater(15);
    await until('it allows none', () => disruptionsAllowed() === 0);
    await world.tickLater(120);
    expect((await world.status()).paused).toContain('Deployment shop/web');

    const mended = newImage.replace('1.29.0', '1.29.1');
    world.injector.behave({ answer: () => undefined });
    await world.upgrade(mended);
    await world.tickLater();
    await world.tickLater();
    expect(world.restarts).toHaveLength(2);
    await world.drive();

    expect(world.imagesOf('web')).toEqual([mended]);
  });

  function disruptionsAllowed(): number | undefined {
    return world.get(podDisruptionBudgets, 'web', 'shop')?.status?.disruptionsAllowed;
  }
});

describe('an istiod of which one replica lags', () => {
  it('is not believed that a candidate is current after all', async () => {
    await openOutdated({ WINDOW: '11:30-13:00' });
    await world.tickLater();
    expect(await world.row('web')).toMatchObject({ code: 'Window' });
    world.injector.behave({
      answer: ({ dryRun, object }) => (dryRun === true ? patchedTo(object ?? {}, oldImage) : undefined),
    });

    await world.tickLater(1800);
    const meanwhile = [...world.restarts];
    const { queue } = world.state();
    world.injector.behave({ answer: () => undefined });
    await world.tickLater();

    expect(meanwhile).toEqual([]);
    expect(queue.items).toMatchObject([{ name: 'web', wait: { code: 'ProbeFailed' } }]);
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('is asked again about what only that replica called current', async () => {
    world = await World.open({ MAX_IN_FLIGHT_PER_NAMESPACE: '5' });
    await world.deployment('a');
    await world.deployment('b');
    await world.tick();
    world.injector.behave({
      answer: ({ dryRun, object }) =>
        dryRun === true && object?.metadata?.labels?.['app'] === 'b' ? patchedTo(object, oldImage) : undefined,
    });
    await world.upgrade();
    await world.tickLater();
    const meanwhile = [...world.restarts];
    world.injector.behave({ answer: () => undefined });
    await world.drive();

    expect(meanwhile).toEqual(['Deployment shop/a']);
    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']);
  });
});

describe('settings', () => {
  it('that change without an event are scanned with at the next tick', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();
    await world.upgrade('mirror.example.com/istio/proxyv2:1.28.4');
    await world.tickLater();
    const before = [...world.restarts];

    await world.create<ConfigMap>(configMaps, {
      metadata: { name: 'istio-rollout-config', namespace: 'kube-reflex' },
      data: { compareHub: 'true' },
    });
    await world.tickLater();

    expect([before, world.restarts]).toEqual([[], ['Deployment shop/web']]);
    expect(world.state().pending).toBeUndefined();
  });
});
