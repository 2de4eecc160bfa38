import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { editRules, lineOf, openWorld, rulesName, type World } from './world.ts';

const mostCalls = 8;
const rulesEvent = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'kube-system' };

let world: World;
let to: Running;

/** A cluster in which the peer's rules are, and nobody said that they may be taken over. */
beforeEach(async () => {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0' });
  to = await world.another();
  const labels = { 'app.kubernetes.io/managed-by': 'coredns-ingress-sync' };
  const metadata = { name: rulesName, namespace: 'kube-system', labels };
  await world.sandbox.api.create(configMaps, { metadata, data: { 'dynamic.server': '# peer\n' } } as ConfigMap);
});

afterEach(async () => world[Symbol.asyncDispose]());

async function callsOf(work: () => Promise<number>): Promise<number> {
  const before = world.calls.length;
  expect(await work()).toBe(204);
  return world.calls.length - before;
}

async function add(name: string): Promise<number> {
  await world.ingress(name, [`${name}.example.com`]);
  return world.tell('add', name, { to });
}

describe('while rules must not be written', () => {
  it('looks once by itself, without asking for every ConfigMap that there might be', async () => {
    expect(await callsOf(() => add('first'))).toBeLessThan(25);
    expect(world.conditions()).toHaveProperty('Conflict');
  });

  it('no event costs more than where they may be, be it a new one, one delivered again or one about the rules', async () => {
    await add('first');
    const costs = [
      await callsOf(() => add('second')),
      await callsOf(() => world.tell('add', 'second', { to })),
      await callsOf(() => add('third')),
    ];
    for (let turn = 0; turn < 3; turn += 1) {
      await editRules(world.sandbox, ({ data }) => Object.assign(data ?? {}, { 'dynamic.server': `# peer ${turn}\n` }));
      costs.push(await callsOf(() => world.tell('update', rulesName, { ...rulesEvent, to })));
    }

    expect(costs.filter((calls) => calls > mostCalls)).toEqual([]);
  });

  it('what objects ask for meanwhile is owed, and done by a later look even if no event ever tells what changed', async () => {
    await add('first');
    await add('second');
    await add('third');
    await world.sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });
    const before = world.lines();
    await to.close(); // does at once what it would have done half a minute later

    expect([before.length, world.lines().length]).toEqual([0, 3]);
    expect(world.conditions()).not.toHaveProperty('Conflict');
  });

  it('a process that may take them over does so with its first event', async () => {
    await add('first');
    const heir = await world.another({ ADOPT: 'true' });
    await world.tell('add', 'first', { to: heir });

    expect(world.lines()).toEqual([lineOf('first.example.com')]);
    await add('second');
    expect(world.lines()).toHaveLength(2);
  });

  it('the event about the rules that are gone is enough to write them', async () => {
    await add('first');
    await world.sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });
    await world.tell('delete', rulesName, { ...rulesEvent, to });

    expect(world.lines()).toEqual([lineOf('first.example.com')]);
  });

  it('and so is that about a Corefile that no longer breaks by them', async () => {
    const { sandbox } = world;
    await sandbox.api.remove(configMaps, { name: rulesName, namespace: 'kube-system' });
    await add('first');
    const sound = structuredClone(sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
    const Corefile = `${sound.data?.['Corefile'] ?? ''}import /etc/coredns/custom/coredns-ingress-sync/*.server\n`;
    const event = { ...rulesEvent, to };
    await sandbox.api.update(configMaps, { ...sound, data: { Corefile } } as ConfigMap);
    await world.tell('update', 'coredns', event);
    await world.tick();
    await add('second');
    expect([world.lines(), world.conditions()]).toEqual([
      [lineOf('first.example.com')],
      expect.objectContaining({ InvalidRender: expect.any(String) }),
    ]);
    const broken = sandbox.api.get(configMaps, 'coredns', 'kube-system');
    const { resourceVersion } = broken?.metadata ?? {};
    await sandbox.api.update(configMaps, { ...sound, metadata: { ...sound.metadata, resourceVersion } } as ConfigMap);
    await world.tell('update', 'coredns', event);

    expect(world.lines()).toHaveLength(2);
  });
});
