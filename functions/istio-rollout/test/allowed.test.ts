import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, statefulSets } from '../../../lib/kube/model/resource.ts';
import { newImage } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

function forbid(resource: string): void {
  world.sandbox.faults.add({ verb: 'list', resource, effect: { do: 'refuse', status: 403 } });
}

describe('without a right', () => {
  it('to list ReplicaSets the other kinds go on, and that is told', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.workload(statefulSets, 'db');
    forbid('replicasets');
    await world.tick();
    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['StatefulSet shop/db']);
    expect(world.logged).toContainEqual(expect.objectContaining({ msg: 'kind cannot be listed', kind: 'ReplicaSet' }));
  });

  it('to list disruption budgets a restart waits and says which', async () => {
    world = await World.openOutdated();
    forbid('poddisruptionbudgets');

    await world.tickLater();

    expect(world.restarts).toEqual([]);
    expect(await world.row('web')).toMatchObject({ code: 'MayNotListPDBs' });
  });
});

describe('a dry run', () => {
  it('IR-34 tells what would wait for what, asks about the rest once, and gives way when it ends', async () => {
    world = await World.open({ DRY_RUN: 'true' });
    const window = { 'istio-rollout.kube-reflex.dev/window': 'Sun 00:00-01:00' };
    await world.deployment('free');
    await world.deployment('waiting', { annotations: window });
    await world.tick();
    await world.upgrade();
    await world.tickLater();
    const codes = [(await world.row('free'))?.code, (await world.row('waiting'))?.code];
    const { probes } = world.injector.counts();
    await world.tickLater();
    const asked = world.injector.counts().probes - probes;
    const dry = [...world.restarts];

    await world.create(configMaps, {
      metadata: { namespace: 'kube-reflex', name: 'istio-rollout-config' },
      data: { window: '00:00-24:00' },
    });
    const wet = await world.start({ DRY_RUN: 'false' });
    await world.tick(wet);

    expect([codes, asked, dry]).toEqual([['DryRun', 'Window'], 0, []]);
    expect(world.restarts).toEqual(['Deployment shop/free']);
    expect(world.imagesOf('waiting')).not.toEqual([newImage]);
  });
});

describe('a window of the settings', () => {
  it('IR-36 is heeded at once when it moves', async () => {
    world = await World.openOutdated({ WINDOW: 'Sun 00:00-01:00' });
    await world.tickLater();
    const closed = await world.row('web');

    await world.create(configMaps, {
      metadata: { namespace: 'kube-reflex', name: 'istio-rollout-config' },
      data: { window: 'Mon 00:00-24:00' },
    });
    await world.tickLater();

    expect(closed).toMatchObject({ code: 'Window' });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });
});
