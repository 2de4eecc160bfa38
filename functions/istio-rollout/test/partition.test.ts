import { afterEach, describe, expect, it } from '@jest/globals';
import { statefulSets, type StatefulSet } from '../../../lib/kube/model/resource.ts';
import { newImage, oldImage, until } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

describe('a StatefulSet with a partition', () => {
  it('has its pods from there on restarted, once, and the others reported', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m', COOLDOWN: '0' });
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
    await world.workload(statefulSets, 'db', { replicas: 3, spec: { updateStrategy } });
    await world.tick();
    await world.upgrade();
    for (let count = 0; count < 4; count += 1) {
      await world.tickLater(120);
      await until('its pods are up', () => world.podsOf('db').length === 3);
    }

    const images = world
      .podsOf('db')
      .map(({ metadata, spec }) => [
        metadata?.name,
        spec?.containers.find(({ name }) => name === 'istio-proxy')?.image,
      ]);
    expect(world.restarts).toEqual(['StatefulSet shop/db']);
    expect(images.toSorted()).toEqual([
      ['db-0', oldImage],
      ['db-1', oldImage],
      ['db-2', newImage],
    ]);
    expect(world.eventsOf('ManualRestartRequired')).toEqual(['db']);
    expect(await world.row('db')).toMatchObject({ code: 'Partitioned' });
  });

  it.each([
    { what: 'as it was', change: {} },
    { what: 'new to its pods', change: { team: 'x' } },
  ])('that holds back all pods is not patched but reported, its template being $what', async ({ change }) => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 5 } };
    await world.workload(statefulSets, 'db', { replicas: 2, spec: { updateStrategy } });
    await world.change<StatefulSet>(
      statefulSets,
      ['db', 'shop'],
      (object) => (Object.assign(object.spec?.template.metadata ?? {}, { annotations: change }), object),
    );
    await world.tick();
    await world.upgrade();
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater(120);
    }

    expect(world.restarts).toEqual([]);
    expect(world.eventsOf('ManualRestartRequired')).toEqual(['db']);
    expect(await world.row('db')).toMatchObject({ code: 'Partitioned', current: oldImage, expected: newImage });
  });
});
