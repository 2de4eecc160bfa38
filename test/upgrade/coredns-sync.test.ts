import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { lineOf, type World } from '../../functions/coredns-sync/test/world.ts';
import { keptBy, type Kept } from './kept.ts';
import { openKept, type Site } from './scenarios/coredns-sync.ts';

const minuteMs = 60_000;
let site: Site;

afterEach(async () => site[Symbol.asyncDispose]());

/** The versions of all that is in CoreDNS or rests on objects: a new setting may change the state alone. */
function versions({ sandbox: { api } }: World): Readonly<Record<string, string>> {
  const all = [...api.list(configMaps), ...api.list(deployments)];
  const found = all.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion] as const);
  return Object.fromEntries(found.filter(([name]) => name !== 'coredns-sync-state')) as Record<string, string>;
}

function kept(...scenarios: readonly string[]): readonly Kept[] {
  return scenarios.flatMap((scenario) => keptBy('coredns-sync', scenario));
}

describe('coredns-sync over what a version left', () => {
  it.each(kept('at-rest', 'grouped', 'template', 'hosts', 'zone', 'zoneblocks', 'sharded'))(
    '$version $scenario: writes no rules, index, Corefile or Deployment anew, and a second pass writes nothing',
    async (left) => {
      site = await openKept(left, 60 * minuteMs);
      const before = versions(site.world);

      expect(await site.tick()).toBe(204);
      expect(versions(site.world)).toEqual(before);
      site.world.writes();
      await site.tick();
      expect(site.world.writes()).toEqual([]);
    },
  );

  it.each(kept('at-rest'))(
    '$version $scenario: takes out the host of an Ingress that goes, gives a shared one to its rival, and lists nothing',
    async (left) => {
      site = await openKept(left, 60 * minuteMs);
      const { world, app } = site;
      await world.remove('web');

      expect(await world.tell('delete', 'web', { to: app })).toBe(204);

      const hosts = ['even', 'late', 'shared'].map((name) => lineOf(`${name}.example.com`));
      expect(world.lines().filter((line) => line.includes(' exact '))).toEqual(hosts);
      expect(world.rules()?.data?.['dynamic.claims']).toContain('Ingress/shop/late');
      expect(world.calls.filter(({ verb }) => verb === 'list')).toEqual([]);
    },
  );

  it.each(kept('at-rest'))(
    '$version $scenario: adds the host of a new Ingress to those that were there',
    async (left) => {
      site = await openKept(left, 60 * minuteMs);
      const { world, app } = site;
      const before = world.lines();
      await world.ingress('new', ['new.example.com']);

      await world.tell('add', 'new', { to: app });

      expect(world.lines().toSorted()).toEqual([...before, lineOf('new.example.com')].toSorted());
    },
  );

  it.each(kept('sharded'))(
    '$version $scenario: takes out exactly the hosts of an Ingress, wherever they are',
    async (left) => {
      site = await openKept(left, 60 * minuteMs);
      const { world, app } = site;
      const before = longHosts(world);
      await world.remove('two');

      await world.tell('delete', 'two', { to: app });

      expect(before).toHaveLength(165);
      expect(longHosts(world)).toEqual(before.filter((name) => !name.startsWith('two-')));
    },
  );

  it.each(kept('rolling-out'))(
    '$version $scenario: waits for the rollout that was begun, begins no other, and then imports the rules',
    async (left) => {
      site = await openKept(left, minuteMs);
      const { world } = site;
      const before = world.sandbox.api.get(deployments, 'coredns', 'kube-system');
      await site.tick();
      const meanwhile = corefile(world);

      await site.rollOut();

      expect(meanwhile).not.toContain('import ');
      expect(corefile(world)).toContain('import /etc/coredns/custom/coredns-ingress-sync/*.server');
      const after = world.sandbox.api.get(deployments, 'coredns', 'kube-system');
      expect(after?.metadata?.generation).toBe(before?.metadata?.generation);
    },
  );

  it.each(kept('owed'))('$version $scenario: writes what a process answered for and did not write', async (left) => {
    site = await openKept(left, 2 * minuteMs);
    const { world, app } = site;
    const before = world.lines();
    await world.ingress('other', ['other.example.com']);

    await world.tell('add', 'other', { to: app });

    const added = ['early', 'other'].map((name) => lineOf(`${name}.example.com`));
    expect(world.lines().toSorted()).toEqual([...before, ...added].toSorted());
  });

  it.each(kept('owed'))('$version $scenario: has nothing pending after a full pass', async (left) => {
    site = await openKept(left, 2 * minuteMs);
    await site.tick();

    expect(JSON.parse(site.world.state()?.data?.['owed'] ?? 'null')).toEqual({});
  });

  it.each(kept('removal'))(
    '$version $scenario: takes the second look that a removal of many hosts waits for',
    async (left) => {
      site = await openKept(left, 5 * minuteMs);
      const before = site.world.lines().length;

      await site.tick();

      expect(before).toBe(25);
      expect(site.world.lines()).toHaveLength(5);
      expect(site.world.lines().join()).not.toContain('many-');
    },
  );
});

/** The first labels of the hosts in the rules. */
function longHosts(world: World): readonly string[] {
  return [
    ...world
      .lines()
      .join('\n')
      .matchAll(/\b(?:one|two|three|four|vast)-\d+/g),
  ]
    .map(([name]) => name)
    .sort();
}

function corefile({ sandbox: { api } }: World): string {
  const found = api.get(configMaps, 'coredns', 'kube-system') as ConfigMap;
  return found.data?.['Corefile'] ?? '';
}
