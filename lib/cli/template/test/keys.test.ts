import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openWorld, ownNamespace, type Replica, type World } from '../../../../test/support/world.ts';
import { configMaps } from '../../../kube/model/resource.ts';
import functionName from '../index.ts';
import { keysAnnotation, watchLabel } from '../names.ts';

const example = { namespace: ownNamespace, name: 'example' };
let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await openWorld();
  replica = await world.start(functionName, { environment: { MAX_KEYS: '2' } });
}, 60_000);
afterAll(() => world.close());

async function apply(label: string, ...keys: readonly string[]): Promise<void> {
  const data = Object.fromEntries(keys.map((key) => [key, 'value']));
  await world.apply(configMaps, { metadata: { ...example, labels: { [watchLabel]: label } }, data });
}

async function annotation(): Promise<string | undefined> {
  return (await world.get(configMaps, example))?.metadata?.annotations?.[keysAnnotation];
}

describe('function-name', () => {
  it('annotates a ConfigMap that asks for it when an event names it', async () => {
    await apply('true', 'size', 'colour');

    expect(await replica.event('add', configMaps, example)).toBe(204);
    expect(await annotation()).toBe('colour,size');
  });

  it('catches up at a tick, and reports KeysOmitted while keys are left out', async () => {
    await apply('true', 'size', 'colour', 'shape');

    expect(await replica.tick()).toBe(204);
    expect(await annotation()).toBe('colour,shape,+1');
    expect(await replica.read('/status')).toMatchObject({
      conditions: [{ type: 'KeysOmitted', messages: ['ConfigMap example has 3 keys'] }],
    });
  });

  it('takes the annotation back when it is no longer asked for', async () => {
    await apply('false', 'size');

    expect(await replica.event('update', configMaps, example)).toBe(204);
    expect(await annotation()).toBeUndefined();
  });

  it('takes its annotations back when it leaves the cluster', async () => {
    await apply('true', 'size');
    await replica.tick();

    expect(await annotation()).toBe('size');
    expect((await world.leave(functionName)).remains).toEqual([]);
    expect(await annotation()).toBeUndefined();
  });
});
