import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, podDisruptionBudgets, type Deployment } from '../../../lib/kube/model/resource.ts';
import { newImage, oldImage, patchedTo, until, workloadOf } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('waves', () => {
  it('IR-26 never more rollouts at once than allowed, and the next only after one has ended', async () => {
    world = await World.open({ MAX_IN_FLIGHT: '5', MAX_IN_FLIGHT_PER_NAMESPACE: '1' });
    const teams = ['a', 'b', 'c', 'd'];
    for (const team of teams) {
      await world.namespace(team, { 'istio-injection': 'enabled' });
      for (let index = 0; index < 5; index += 1) {
        await world.sandbox.api.create(deployments, workloadOf(`web-${index}`, { namespace: team }));
      }
    }
    await world.settle();
    await world.tick();
    await world.upgrade();
    world.breakPods(newImage, 'web-0');
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater();
    }
    const whileRolling = world.restarts.toSorted();

    world.injector.behave({ answer: () => undefined });
    for (const team of teams) {
      await world.removePods('web-0', team);
    }
    await world.settle();
    await world.drive();

    expect(whileRolling).toEqual(teams.map((team) => `Deployment ${team}/web-0`));
    expect(world.restarts).toHaveLength(20);
    expect(new Set(world.restarts).size).toBe(20);
  });

  it('IR-27 a rollout that does not get ready pauses the run; it goes on when that one recovers', async () => {
    world = await World.openOutdated({ ROLLOUT_TIMEOUT: '10m' }, { a: {}, b: {}, c: {} });
    world.breakPods(newImage, 'b');
    await world.tickLater();
    await world.settle();
    await world.tickLater();
    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']);

    await world.tickLater(900);
    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']);
    expect(world.eventsOf('RestartFailed')).toEqual(['b']);
    expect(await world.metric('run_paused')).toBe(1);
    expect((await world.status()).paused).toContain('Deployment shop/b');

    world.injector.behave({ answer: () => undefined });
    await world.removePods('b');
    await world.settle();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b', 'Deployment shop/c']);
    expect(await world.metric('run_paused')).toBe(0);
  });

  it('goes on after a pause on command, within the limits', async () => {
    world = await World.openOutdated(
      { ROLLOUT_TIMEOUT: '1m', MAX_IN_FLIGHT_PER_NAMESPACE: '2', RESTART_DELAY: '1m' },
      { a: {}, b: {}, c: {} },
    );
    world.breakPods(newImage, 'a', 'b');
    await world.tickLater();
    await world.tickLater(120);
    expect((await world.status()).paused).toContain('Deployment shop/a');

    await world.change(configMaps, ['istio-rollout-state', 'kube-reflex'], (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'istio-rollout.kube-reflex.dev/resume': 'now' } },
    }));
    await world.tickLater();
    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']); // both are unready: no room for c
    expect(world.get(configMaps, 'istio-rollout-state', 'kube-reflex')?.metadata?.annotations ?? {}).toEqual({});
  });

  it('IR-30 the delay between restarts holds although the instance is another and the first patch was slow', async () => {
    world = await World.openOutdated({ RESTART_DELAY: '10s', MAX_IN_FLIGHT_PER_NAMESPACE: '5' }, { a: {}, b: {} });
    world.onIntent(() => world.turn(4)); // from when it is decided to when it is made
    await world.tickLater(15.9); // the annotation tells no fractions of a second
    const next = await world.start();

    world.turn(9.9);
    await world.tick(next);
    const early = [...world.restarts];
    world.turn(0.1);
    await world.tick(next);

    expect([early.length, world.restarts.length]).toEqual([1, 2]);
  });

  it('IR-30 holds too while nobody knows whether the patch before was made', async () => {
    world = await World.openOutdated({ RESTART_DELAY: '1m', MAX_IN_FLIGHT_PER_NAMESPACE: '5' }, { a: {}, b: {} });
    world.sandbox.faults.add({
      verb: 'patch',
      resource: 'deployments',
      times: 1,
      effect: { do: 'cut', when: 'after' },
    });
    await world.tickLater(15);
    const unsure = world.state().inflight.map(({ phase }) => phase);

    await world.tickLater(5);

    expect(unsure).toEqual(['Intent']);
    expect(world.restarts).toEqual(['Deployment shop/a']);
  });

  it('IR-31 restarts that cannot help end after maxAttempts', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    await world.tick();
    world.injector.behave({
      answer: ({ dryRun, object }) => (dryRun === true ? undefined : patchedTo(object ?? {}, oldImage)),
    });

    await world.upgrade();
    for (let count = 0; count < 8; count += 1) {
      await world.tickLater(600);
      await world.settle();
    }

    expect(world.restarts).toEqual(['Deployment shop/web', 'Deployment shop/web']);
    expect(world.eventsOf('RestartIneffective')).toEqual(['web']);
    expect((await world.row('web'))?.code).toBe('Ineffective');
  });

  it('IR-36 while the window is closed restarts wait for it, and a tick is enough when it opens', async () => {
    world = await World.openOutdated({ WINDOW: 'Mon 13:00-14:00 Europe/Berlin' });
    await world.tickLater();
    const closed = [...world.restarts];
    const row = await world.row('web');

    world.turn(3600);
    await world.tick();

    expect(closed).toEqual([]);
    expect(row).toMatchObject({ code: 'Window', until: '2026-03-02T12:00:00Z' });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('IR-36 follows a window that somebody moves while restarts wait for it, with the next scan', async () => {
    world = await World.openOutdated({ WINDOW: 'Mon 13:00-14:00 Europe/Berlin', RECONCILE_PERIOD: '1m' });
    await world.tickLater();
    const closed = await world.row('web');

    await world.change<Deployment>(deployments, ['web', 'shop'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: { 'istio-rollout.kube-reflex.dev/window': 'Mon 00:00-23:00 UTC' } },
    }));
    await world.tickLater(60);
    await world.tickLater();

    expect(closed).toMatchObject({ code: 'Window' });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('waits while a disruption budget allows no disruption', async () => {
    world = await World.openOutdated();
    const selector = { matchLabels: { app: 'web' } };
    await world.create(podDisruptionBudgets, {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { minAvailable: 1, selector },
    });
    await until('its status', () => world.get(podDisruptionBudgets, 'web', 'shop')?.status?.disruptionsAllowed === 0);
    await world.tickLater();
    const before = [...world.restarts];

    await world.sandbox.api.remove(podDisruptionBudgets, { name: 'web', namespace: 'shop' });
    await world.tickLater();

    expect([before, world.restarts]).toEqual([[], ['Deployment shop/web']]);
  });

  it.each([
    'istio-rollout.kube-reflex.dev/restartedAt',
    'fortsa.scaffidi.net/restartedAt',
    'kubectl.kubernetes.io/restartedAt',
  ])('honours the cooldown after %s', async (annotation) => {
    world = await World.open({ COOLDOWN: '3h' });
    await world.deployment('web', { templateAnnotations: { [annotation]: '2026-03-02T10:00:00Z' } });
    await world.tick();
    await world.upgrade();
    await world.tickLater();

    expect(world.restarts).toEqual([]);
    expect(await world.row('web')).toMatchObject({ code: 'Cooldown', until: '2026-03-02T13:00:00Z' });
  });

  it('warns of a restart that lies further in the future than a cooldown, and does not wait for it', async () => {
    world = await World.open();
    const templateAnnotations = { 'kubectl.kubernetes.io/restartedAt': '2027-01-01T00:00:00Z' };
    await world.deployment('web', { templateAnnotations });
    await world.tick();
    await world.upgrade();
    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.warnings('time of a restart lies in the future: ignored')).toBe(1);
  });
});
