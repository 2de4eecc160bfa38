import { afterEach, describe, expect, it } from '@jest/globals';
import { pods } from '../../lib/kube/model/resource.ts';
import { newImage } from '../../functions/istio-rollout/test/objects.ts';
import type { World } from '../../functions/istio-rollout/test/world.ts';
import { keptBy, type Kept } from './kept.ts';
import { openKept, type Site } from './scenarios/istio-rollout.ts';

let site: Site;
let world: World;

afterEach(async () => site[Symbol.asyncDispose]());

async function open(left: Kept): Promise<void> {
  site = await openKept(left);
  ({ world } = site);
}

function kept(scenario: string): readonly Kept[] {
  return keptBy('istio-rollout', scenario);
}

describe('istio-rollout over what a version left', () => {
  it.each(kept('at-rest'))(
    '$version $scenario: restarts nothing, asks no injector again, and at rest writes nothing',
    async (left) => {
      await open(left);
      await world.tickLater(4000);
      await world.tickLater(60);
      const { length } = world.calls;
      await world.tickLater(60);

      expect(world.restarts).toEqual([]);
      expect(world.injector.counts().probes).toBe(0);
      expect(world.calls.slice(length).filter(({ verb }) => verb !== 'get' && verb !== 'list')).toEqual([]);
    },
  );

  it.each(kept('pending'))('$version $scenario: makes the scan that an event asked for', async (left) => {
    await open(left);
    await world.tickLater(5);
    const early = [...world.restarts];
    await world.tickLater(10);
    await world.settle();
    await world.drive();

    expect(early).toEqual([]);
    expect(world.restarts).toEqual(['Deployment shop/a']);
    expect(world.imagesOf('a')).toEqual([newImage]);
  });

  it.each(kept('patched'))(
    '$version $scenario: begins nothing beside a restart that is under way, and goes on after it',
    async (left) => {
      await open(left);
      await world.tickLater();
      const meanwhile = [...world.restarts];
      await world.removePods('a');
      await world.settle();
      await world.drive();

      expect(meanwhile).toEqual([]);
      expect(world.restarts).toEqual(['Deployment shop/b', 'Deployment shop/c']);
      expect(world.eventsOf('RestartCompleted')).toEqual(['a', 'b', 'c']);
      expect(['a', 'b', 'c'].flatMap((name) => world.imagesOf(name))).toEqual([newImage, newImage, newImage]);
    },
  );

  it.each(kept('patch-lost'))('$version $scenario: makes a restart that never arrived, once', async (left) => {
    await open(left);
    await world.tick();
    const early = [...world.restarts];
    await world.drive();

    expect(early).toEqual([]);
    expect(world.restarts.toSorted()).toEqual(['Deployment shop/a', 'Deployment shop/b']);
  });

  it.each(kept('patch-unconfirmed'))(
    '$version $scenario: knows a restart that arrived and was not confirmed, and does not repeat it',
    async (left) => {
      await open(left);
      await world.drive();

      expect(world.restarts).toEqual(['Deployment shop/b']);
      expect(world.eventsOf('RestartCompleted')).toEqual(['a', 'b']);
    },
  );

  it.each(kept('paused'))('$version $scenario: stays paused until somebody lets it go on', async (left) => {
    await open(left);
    await world.tickLater();
    await world.tickLater(4000);
    const meanwhile = [...world.restarts];
    await world.removePods('a');
    await world.settle();
    await world.command('resume', 'now');
    await world.drive();

    expect(meanwhile).toEqual([]);
    expect(world.restarts).toEqual(['Deployment shop/c']);
  });

  it.each(kept('in-vain'))('$version $scenario: does not try again what was in vain', async (left) => {
    await open(left);
    for (let ticks = 0; ticks < 3; ticks += 1) {
      await world.tickLater(4000);
    }

    expect(world.restarts).toEqual([]);
    expect(await world.row('a')).toMatchObject({ code: 'Ineffective' });
  });

  it.each(kept('evicting'))('$version $scenario: evicts the pod that has yet to go, and no other', async (left) => {
    await open(left);
    const evicted: string[] = [];
    world.sandbox.api.subscribe(pods, ({ type, object }) => {
      if (type === 'DELETED') {
        evicted.push(object.metadata?.name ?? '');
      }
    });
    await world.drive();

    expect(evicted).toEqual(['db-1']);
    expect(world.imagesOf('db')).toEqual([newImage]);
  });
});
