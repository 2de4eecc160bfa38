import { afterEach, describe, expect, it } from '@jest/globals';
import { ingressOf, openWorld, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { turnedClock, type TurnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

const ingressKind = { group: 'networking.k8s.io', plural: 'ingresses' };

let world: World;
let clock: TurnedClock;

async function open(environment: Environment = {}): Promise<World> {
  clock = turnedClock();
  world = await openWorld(environment, { clock });
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

describe('a later pass', () => {
  it('CS-4 of another process writes nothing, nor does that process before it ends', async () => {
    const { ingress, tell, tick, another, writes } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await tick();
    const second = await another();
    clock.turn(3_600_000);
    writes();

    expect((await send(second.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status).toBe(204);
    await second.close(); // does at once what it would have done later
    expect(writes()).toEqual([]);
  });

  it('CS-42 does not confirm a mass removal when it wants another one', async () => {
    const { sandbox, remove, tick, lines, conditions } = await open({ MIN_WRITE_INTERVAL_MS: '0' });
    const names = Array.from({ length: 50 }, (_, index) => `web-${index}`);
    for (const name of names) {
      await sandbox.api.create(ingressKind, ingressOf(name, [`${name}.example.com`]));
    }
    await tick();
    await Promise.all(names.slice(0, 30).map((name) => remove(name)));
    await tick();
    clock.turn(61_000);
    await Promise.all(names.slice(30).map((name) => remove(name)));

    await tick();
    expect(lines()).toHaveLength(50);
    expect(conditions()['MassRemoval']).toContain('50 of 50 hosts');
    clock.turn(61_000);
    await tick();
    expect(lines()).toEqual([]);
  });
});
