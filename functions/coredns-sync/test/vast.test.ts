import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { lineOf, openWorld, type World } from './world.ts';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

describe('objects that ask for more than is good', () => {
  it('one with thousands of hosts fills no part of the index, and its changes are served', async () => {
    world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', RENDER_MODE: 'exact' });
    const hosts = Array.from({ length: 400 }, (_, index) => `host-${index}.shop.example.com`);
    await world.ingress('web', ['web.example.com']);
    await world.ingress('vast', hosts);
    await world.tick();
    const records = world.sandbox.api.get(configMaps, 'coredns-sync-records-0', 'kube-reflex') as ConfigMap;

    expect(records.data?.['records']).toMatch(/^Ingress\/shop\/vast [0-9a-f]{12} \?$/m);
    await world.change('vast', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host: 'new.example.com' }));
    expect(await world.tell('update', 'vast')).toBe(204);
    const lines = world.lines();
    expect(lines).toHaveLength(401);
    expect(lines).toContain(lineOf('new.example.com'));
    expect(lines).not.toContain(lineOf('host-0.shop.example.com'));
    world.writes();
    await world.tell('update', 'vast');
    expect(world.writes()).toEqual([]);
  });

  it('many for one host are counted, not named: every event reads the state', async () => {
    world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', EMIT_EVENTS: 'false' });
    for (let rival = 0; rival < 9; rival += 1) {
      await world.ingress(`web-${rival}`, ['shared.example.com']);
    }
    await world.tick();
    const { contested } = JSON.parse(world.state()?.data?.['summary'] ?? '{}') as { contested: string[] };

    expect(contested).toEqual([
      expect.stringMatching(/^shared\.example\.com: Ingress\/shop\/web-\d( > Ingress\/shop\/web-\d){3} and 5 more$/),
    ]);
  });
});
