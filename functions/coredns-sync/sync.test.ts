import { afterEach, describe, expect, it } from '@jest/globals';
import { lineOf, openWorld, type World, type Environment } from '../../test/coredns-sync/world.ts';

let world: World;

async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

describe('coredns-sync and its Ingresses', () => {
  it('CS-1 an add event makes one line with the target, and is answered', async () => {
    const { ingress, tell, lines } = await open();
    await ingress('web', ['api.example.com']);

    expect(await tell('add', 'web')).toBe(204);
    expect(lines()).toEqual([lineOf('api.example.com')]);
  });

  it('CS-2 a hundred redeliveries at once write nothing', async () => {
    const { ingress, tell, rules, writes } = await open();
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    const before = rules()?.metadata?.resourceVersion;
    writes();

    const statuses = await Promise.all(Array.from({ length: 100 }, () => tell('add', 'web')));

    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(rules()?.metadata?.resourceVersion).toBe(before);
    expect(writes()).toEqual([]);
  });
});
