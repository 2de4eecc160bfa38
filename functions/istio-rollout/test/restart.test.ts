import { afterEach, describe, expect, it } from '@jest/globals';
import { deployments, statefulSets, type Deployment } from '../../../lib/kube/model/resource.ts';
import { newImage, oldImage, restartAnnotation, until, workloadOf } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('a new version of the control plane', () => {
  it('IR-1 an outdated Deployment of 10 pods costs one probe and one patch, and gets a time in UTC', async () => {
    world = await World.open();
    await world.deployment('web', { replicas: 10 });
    await world.tick();
    const before = world.injector.counts().probes;

    await world.upgrade();
    await world.tickLater(15);
    await world.settle();

    expect(world.injector.counts().probes - before).toBe(1);
    expect(world.restarts).toEqual(['Deployment shop/web']);
    const { spec } = world.get<Deployment>(deployments, 'web', 'shop') ?? {};
    expect(spec?.template.metadata?.annotations?.[restartAnnotation]).toBe('2026-03-02T11:00:15Z');
    expect(world.imagesOf('web')).toEqual([newImage]);
  });

  it('IR-2 the same event five times still means one patch', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();

    await world.upgrade();
    for (let count = 0; count < 4; count += 1) {
      await world.configMapEvent();
    }
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('waits for istiod to read its configuration before it looks', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();

    await world.upgrade();
    await world.tickLater(5);

    expect(world.restarts).toEqual([]);
    expect(world.state().pending).toMatchObject({ reasons: ['ConfigMap istio-system/istio-sidecar-injector'] });
  });

  it('does not act on the answers of an istiod that has not read it yet', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();
    world.turn(3600);
    await world.publish('1.29.0');
    await world.configMapEvent();

    await world.tickLater();
    expect(world.restarts).toEqual([]);
    expect(world.state().pending?.lastError).toContain('has not read its new ConfigMap');
    world.injector.behave({ image: newImage });
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('IR-22 a Deployment and a StatefulSet of the same name are both restarted', async () => {
    world = await World.open({ MAX_IN_FLIGHT_PER_NAMESPACE: '5' });
    const containers = [{ name: 'web', image: 'web:1' }];
    for (const [ref, tier] of [
      [deployments, 'a'],
      [statefulSets, 'b'],
    ] as const) {
      const labels = { app: 'web', tier };
      const template = { metadata: { labels }, spec: { containers } };
      await world.sandbox.api.create(ref, workloadOf('web', { spec: { selector: { matchLabels: labels }, template } }));
    }
    await until('both are up', () => world.podsOf('web').length === 2);
    await world.settle();
    await world.tick();

    await world.upgrade();
    await world.drive();

    expect(world.restarts.toSorted()).toEqual(['Deployment shop/web', 'StatefulSet shop/web']);
    expect(world.imagesOf('web')).toEqual([newImage]);
  });

  it('IR-11 a native sidecar of the old version is outdated', async () => {
    world = await World.open();
    world.injector.behave({ native: true });
    await world.deployment('web');
    await world.tick();

    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('IR-12 another mode of the same proxy counts only if that is checked', async () => {
    world = await World.open();
    world.injector.behave({ native: true });
    await world.deployment('web');
    world.turn(3600);
    world.injector.behave({ native: false });
    await world.drive();
    const byDefault = [...world.restarts];

    const strict = await world.start({ DRIFT_CHECKS: 'image,missing,revision,mode', RECONCILE_PERIOD: '1m' });
    world.turn(600);
    await world.tick(strict);

    expect([byDefault, world.restarts]).toEqual([[], ['Deployment shop/web']]);
    expect(world.imagesOf('web')).toEqual([oldImage]);
  });
});
