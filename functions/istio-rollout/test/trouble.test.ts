import { afterEach, describe, expect, it } from '@jest/globals';
import { injectorConfigMap, revisionWebhooks } from '../sandbox/istio.ts';
import {
  configMaps,
  deployments,
  mutatingWebhooks,
  type ConfigMap,
  type Deployment,
} from '../../../lib/kube/model/resource.ts';
import { newImage } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('injectors', () => {
  it.each(['hang', 'fail', 'drop'] as const)(
    'IR-17 while the webhook does %s nothing is restarted; afterwards a tick is enough',
    async (mode) => {
      world = await World.open({ PROBE_TIMEOUT: '2s' });
      await world.deployment('web');
      await world.tick();
      world.injector.behave({ mode });
      await world.upgrade();

      await world.tickLater();
      expect(world.restarts).toEqual([]);
      expect(world.state().pending).toMatchObject({ attempts: 1, namespaces: ['shop'] });
      world.injector.behave({ mode: 'inject' });
      await world.tickLater();

      expect(world.restarts).toEqual(['Deployment shop/web']);
      expect(world.state().pending).toBeUndefined();
    },
  );

  it('IR-18 a refusal without a reason concerns that workload alone', async () => {
    world = await World.open({ MAX_IN_FLIGHT_PER_NAMESPACE: '5' });
    await world.deployment('bad');
    await world.deployment('web');
    await world.tick();
    world.injector.behave({
      answer: ({ object, dryRun }) =>
        dryRun === true && object?.metadata?.labels?.['app'] === 'bad' ? { allowed: false } : undefined,
    });

    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.eventsOf('ConfigInvalid')).toEqual(['bad']);
    expect(await world.row('bad')).toMatchObject({ code: 'ConfigInvalid' });
  });

  it('a patch that cannot be applied is no answer', async () => {
    world = await World.openOutdated();
    const patch = Buffer.from(JSON.stringify([{ op: 'remove', path: '/spec/nothing' }])).toString('base64');
    world.injector.behave({ answer: () => ({ allowed: true, patchType: 'JSONPatch', patch }) });

    await world.tickLater();

    expect(world.restarts).toEqual([]);
    expect(world.state().pending?.lastError).toContain('cannot be applied');
  });

  it('IR-19 broken values of one revision leave the other alone, and are told once', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    const canary = await world.addInjector(newImage, 'canary');
    await world.create(configMaps, {
      ...injectorConfigMap({ revision: 'canary', tag: '1.29.0' }),
      data: { values: '{"broken' },
    });
    await world.create(mutatingWebhooks, revisionWebhooks('canary', canary.clientConfig));
    await world.deployment('web');
    await world.tick();

    await world.upgrade();
    await world.drive();
    await world.tickLater(120);

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.warnings('values of a control plane cannot be read')).toBe(1);
  });
});

describe('values that break later', () => {
  it('IR-19 are told once as well, whoever noticed the change first', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.tick();

    await world.change<ConfigMap>(configMaps, ['istio-sidecar-injector', 'istio-system'], (object) => ({
      ...object,
      data: { ...object.data, values: '{"broken' },
    }));
    await world.configMapEvent();
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater(120);
    }

    expect(world.warnings('values of a control plane cannot be read')).toBe(1);
  });
});

describe('interruptions', () => {
  it.each([
    { name: 'IR-28 (a) dying after the intent and before the patch', when: 'before' as const },
    { name: 'IR-28 (b) dying after the patch and before it is confirmed', when: 'after' as const },
  ])('$name means exactly one restart', async ({ when }) => {
    world = await World.openOutdated();
    world.sandbox.faults.add({ verb: 'patch', resource: 'deployments', times: 1, effect: { do: 'cut', when } });
    world.turn(15);
    expect(await world.tick()).toBe(204);
    expect(world.state().inflight).toMatchObject([{ phase: 'Intent' }]);

    const next = await world.start();
    world.turn(60);
    await world.tick(next);
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.imagesOf('web')).toEqual([newImage]);
  });

  it('IR-29 two instances at once patch each workload once', async () => {
    world = await World.open({ MAX_IN_FLIGHT_PER_NAMESPACE: '10', MAX_IN_FLIGHT: '10' });
    for (const name of ['a', 'b', 'c', 'd']) {
      await world.deployment(name);
    }
    const instances = [await world.start(), await world.start()];
    await world.tick(instances[0]);
    await world.upgrade();

    for (let count = 0; count < 4; count += 1) {
      world.turn(15);
      await Promise.all(instances.map((each) => world.tick(each)));
      await world.settle();
    }

    expect(world.restarts.toSorted()).toEqual(['a', 'b', 'c', 'd'].map((name) => `Deployment shop/${name}`));
  });

  it('IR-32 a change that a user makes meanwhile is kept, and looked at before the restart', async () => {
    world = await World.openOutdated();
    world.onIntent(() => {
      void world.change<Deployment>(deployments, ['web', 'shop'], (object) => {
        const [container] = object.spec?.template.spec?.containers ?? [];
        return container === undefined ? object : (Object.assign(container, { image: 'web:2' }), object);
      });
    });

    await world.tickLater(15);
    await world.drive();
    await world.settle();

    const { spec } = world.get<Deployment>(deployments, 'web', 'shop') ?? {};
    expect(spec?.template.spec?.containers[0]?.image).toBe('web:2');
    expect(world.restarts.length).toBeLessThanOrEqual(1);
    expect(world.imagesOf('web')).toEqual([newImage]);
    expect(world.state().inflight).toEqual([]);
  });

  it('IR-33 a workload that is deleted on the way is no error, and the run goes on', async () => {
    world = await World.open({ MAX_IN_FLIGHT_PER_NAMESPACE: '5' });
    await world.deployment('first');
    await world.deployment('second');
    await world.tick();
    await world.upgrade();
    world.onIntent(() => void world.sandbox.api.remove(deployments, { name: 'first', namespace: 'shop' }));

    world.turn(15);
    expect(await world.tick()).toBe(204);
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/second']);
    expect(world.state().inflight).toEqual([]);
  });

  it('IR-38 without its state it finds what is under way, and restarts nothing twice', async () => {
    world = await World.open({ COOLDOWN: '30m', MAX_IN_FLIGHT: '1' });
    await world.deployment('other');
    await world.deployment('slow', { annotations: { 'istio-rollout.kube-reflex.dev/priority': '-1' } });
    await world.tick();
    world.breakPods(newImage, 'slow');
    await world.upgrade();
    await world.tickLater(15);
    expect(world.restarts).toEqual(['Deployment shop/slow']);

    await world.sandbox.api.remove(configMaps, { name: 'istio-rollout-state', namespace: 'kube-reflex' });
    for (let count = 0; count < 5; count += 1) {
      await world.tickLater();
    }

    expect(world.restarts).toEqual(['Deployment shop/slow']);
    expect(world.state().inflight).toMatchObject([{ name: 'slow', phase: 'Patched' }]);
    expect(world.state().queue.items).toMatchObject([{ name: 'other' }]);
  });

  it('a conflict that leaves the workload as it was only costs another try', async () => {
    world = await World.openOutdated();
    world.sandbox.faults.add({
      verb: 'patch',
      resource: 'deployments',
      times: 1,
      effect: { do: 'refuse', status: 409 },
    });

    await world.tickLater(15);

    expect(world.restarts).toEqual(['Deployment shop/web']);
  });
});
