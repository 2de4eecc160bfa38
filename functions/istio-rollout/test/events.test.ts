import { afterEach, describe, expect, it } from '@jest/globals';
import { namespaces, statefulSets, type Namespace, type StatefulSet } from '../../../lib/kube/model/resource.ts';
import { newImage } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('Events', () => {
  it('tell of every restart, although two of them end in the same words', async () => {
    world = await World.openOutdated();
    await world.drive();
    await world.upgrade('docker.io/istio/proxyv2:1.29.1');
    await world.drive();

    expect(world.restarts).toHaveLength(2);
    expect(world.eventsOf('RestartTriggered')).toEqual(['web', 'web']);
    expect(world.eventsOf('RestartCompleted')).toEqual(['web', 'web']);
  });

  it('IR-37 tell of each revision that nobody knows, once', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    await world.tick();
    for (const revision of ['nowhere', 'elsewhere']) {
      await world.change<Namespace>(namespaces, ['shop'], ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, labels: { 'istio.io/rev': revision } },
      }));
      await world.tickLater(120);
      await world.tickLater(120);
    }

    expect(world.eventsOf('UnknownRevision')).toEqual(['web', 'web']);
  });

  it('tell of what turns out to need hands only when its restart is to begin', async () => {
    world = await World.open({ WINDOW: 'Mon 13:00-14:00 Europe/Berlin' });
    await world.workload(statefulSets, 'db');
    await world.tick();
    await world.upgrade(newImage);
    await world.tickLater();
    await world.change<StatefulSet>(
      statefulSets,
      ['db', 'shop'],
      (object) => (Object.assign(object.spec ?? {}, { updateStrategy: { type: 'OnDelete' } }), object),
    );
    await world.settle();
    const before = world.eventsOf('ManualRestartRequired');

    await world.tickLater(3550); // the window is open, and no scan is due

    expect([before, world.eventsOf('ManualRestartRequired')]).toEqual([[], ['db']]);
    expect(world.restarts).toEqual([]);
  });
});
