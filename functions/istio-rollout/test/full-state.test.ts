import { afterEach, describe, expect, it } from '@jest/globals';
import { queueNames, stateName } from '../names.ts';
import { encode, type Encoded } from '../state/codec.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const namespace = 'kube-reflex';
const mostBytes = 1024 * 1024; // of a ConfigMap

/** Lengthens a text that is never left out. */
async function lengthen(bytes: number): Promise<void> {
  const { data, parts } = longer(bytes);
  const [part] = parts;
  await world.change<ConfigMap>(configMaps, [stateName, namespace], (object) => ({ ...object, data: { ...data } }));
  await world.create<ConfigMap>(configMaps, {
    metadata: { name: queueNames[0] ?? '', namespace },
    data: { items: part ?? '' },
  });
}

function longer(bytes: number): Encoded {
  const { pacing, ...state } = world.state();
  return encode({ ...state, pacing: { ...pacing, trigger: 'x'.repeat(bytes) } });
}

function sizeOf({ data }: Encoded): number {
  return Buffer.byteLength(Object.values(data).join(''));
}

describe('a state without room for one more intent', () => {
  it('lets nothing be restarted, which is told, until there is room again', async () => {
    world = await World.openOutdated({ WINDOW: '11:30-13:00' });
    await world.tickLater();
    expect(await world.row('web')).toMatchObject({ code: 'Window' });
    await lengthen(2 * mostBytes - sizeOf(longer(mostBytes)));

    await world.tickLater(1800);
    const meanwhile = { restarts: [...world.restarts], row: await world.row('web') };
    await world.change<ConfigMap>(configMaps, [stateName, namespace], (object) => ({
      ...object,
      data: { ...object.data, pacing: longer(0).data['pacing'] ?? '' },
    }));
    await world.drive();

    expect(meanwhile).toMatchObject({ restarts: [], row: { code: 'ApiFailed' } });
    expect(world.eventsOf('RestartDeferred')).toEqual(['web', 'web']);
    expect(world.logged).toContainEqual(
      expect.objectContaining({
        level: 40,
        name: 'web',
        msg: 'restart not possible now',
        reason: expect.stringMatching(/istio-rollout-state.*Too long/),
      }),
    );
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });
});
