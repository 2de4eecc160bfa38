import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps } from '../../../lib/kube/model/resource.ts';
import { installKinds } from './kinds.ts';
import { lineOf, openWorld, until, rulesName, target, type Environment, type World } from './world.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

let world: World;

async function open(environment: Environment = {}, options = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment }, options);
  return world;
}

afterEach(async () => world[Symbol.asyncDispose]());

async function rename(host: string): Promise<void> {
  await world.change('web', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host }));
}

/** All that is in the rules from now on, without this host. */
function watchFor(host: string): readonly (readonly string[])[] {
  const without: (readonly string[])[] = [];
  world.sandbox.api.subscribe(configMaps, () => {
    const lines = world.lines();
    if (!lines.includes(lineOf(host))) {
      without.push(lines);
    }
  });
  return without;
}

describe('writers that meet', () => {
  it('CS-39 a slow writer starts over: the newer host survives', async () => {
    const { ingress, tell, lines, sandbox, another } = await open();
    await ingress('web', ['one.example.com']);
    await tell('add', 'web');
    const second = await another();
    await ingress('slow', ['slow.example.com']);
    await ingress('quick', ['quick.example.com']);
    // The first process has read everything and is held at its write while the second does all of its own.
    sandbox.faults.add({
      verb: 'patch',
      resource: 'configmaps',
      name: rulesName,
      times: 1,
      effect: { do: 'delay', ms: 300 },
    });

    const slow = tell('add', 'slow');
    await until(() => sandbox.faults.fired.length === 1);
    expect(await tell('add', 'quick', { to: second })).toBe(204);

    expect(await slow).toBe(204);
    expect(lines()).toEqual(['one', 'quick', 'slow'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('CS-39 a full pass that listed before another wrote starts over: the newer host is never missing', async () => {
    const { ingress, tell, tick, lines, sandbox, another } = await open({ INGRESSROUTE_TARGET_CNAME: target });
    await installKinds(sandbox);
    await ingress('web', ['one.example.com']);
    await tick();
    const second = await another();
    await ingress('slow', ['slow.example.com']); // so that the pass has something to write
    // The pass has listed the Ingresses and is held at another list while the second process does all of its own.
    sandbox.faults.add({ verb: 'list', resource: 'ingressroutes', times: 1, effect: { do: 'delay', ms: 300 } });

    const slow = tick();
    await until(() => sandbox.faults.fired.length === 1);
    await ingress('quick', ['quick.example.com']);
    expect(await tell('add', 'quick', { to: second })).toBe(204);
    const without = watchFor('quick.example.com');

    expect(await slow).toBe(204);
    expect(without).toEqual([]);
    expect(lines()).toEqual(['one', 'quick', 'slow'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('CS-39 an increment that looked at its object before another wrote looks again: no older host comes back', async () => {
    const { ingress, tell, lines, sandbox, another } = await open();
    await ingress('web', ['one.example.com']);
    await tell('add', 'web');
    const second = await another();
    await tell('add', 'web', { to: second });
    await rename('two.example.com');
    sandbox.faults.add({
      verb: 'get',
      resource: 'configmaps',
      name: rulesName,
      times: 1,
      effect: { do: 'delay', ms: 300 },
    });

    const slow = tell('update', 'web');
    await until(() => sandbox.faults.fired.length === 1);
    await rename('three.example.com');
    expect(await tell('update', 'web', { to: second })).toBe(204);
    expect(lines()).toEqual([lineOf('three.example.com')]);
    const without = watchFor('three.example.com');

    expect(await slow).toBe(204);
    expect(without).toEqual([]);
    expect(lines()).toEqual([lineOf('three.example.com')]);
  });

  it('CS-40 twenty increments at once, by two processes: every host is there, every event answered', async () => {
    const { ingress, tell, lines, another, app } = await open();
    await tell('add', 'none');
    const second = await another();
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
    for (const name of names) {
      await ingress(name, [`${name}.example.com`]);
    }

    const statuses = await Promise.all(
      names.map((name, index) => tell('add', name, { to: index % 2 === 0 ? app : second })),
    );
    for (const [index, name] of names.entries()) {
      if (statuses[index] !== 204) {
        expect(statuses[index]).toBe(503);
        expect(await tell('add', name)).toBe(204);
      }
    }

    expect(lines()).toEqual(names.map((name) => lineOf(`${name}.example.com`)).sort());
  });

  it('who meets one that owes looks at its own objects alone, and at everything once that one seems dead', async () => {
    const clock = turnedClock();
    const { ingress, tell, lines, sandbox, another, calls } = await open({}, { clock });
    await ingress('web', ['web.example.com']);
    await tell('add', 'web');
    const slow = await another({ MIN_WRITE_INTERVAL_MS: '60000' });
    await ingress('owed', ['owed.example.com']);
    expect(await tell('add', 'owed', { to: slow })).toBe(204);

    async function meet(name: string): Promise<readonly string[]> {
      await ingress(name, [`${name}.example.com`]);
      const effect = { do: 'refuse', status: 409 } as const;
      sandbox.faults.add({ verb: 'patch', resource: 'configmaps', name: rulesName, times: 1, effect });
      const before = calls.length;
      await tell('add', name);
      return calls.slice(before).flatMap(({ verb, resource }) => (verb === 'list' ? resource : []));
    }

    expect(await meet('first')).toEqual([]);
    expect(lines()).toEqual(['first', 'web'].map((name) => lineOf(`${name}.example.com`)));
    clock.turn(61_000);
    expect(await meet('second')).not.toEqual([]);
    expect(lines()).toEqual(['first', 'owed', 'second', 'web'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('gives up with 503 when others never stop writing', async () => {
    const { ingress, tell, sandbox } = await open({ CONFLICT_RETRIES: '3' });
    await ingress('web', ['api.example.com']);
    await tell('add', 'web');
    await ingress('more', ['more.example.com']);
    sandbox.faults.add({
      verb: 'patch',
      resource: 'configmaps',
      name: rulesName,
      effect: { do: 'refuse', status: 409 },
    });

    expect(await tell('add', 'more')).toBe(503);
    expect(sandbox.faults.fired).toHaveLength(3);
  });
});
