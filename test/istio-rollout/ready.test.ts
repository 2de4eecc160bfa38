import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, type ConfigMap } from '../../lib/kube/resource.ts';
import { send } from '../http.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

async function readiness(): Promise<{ readonly status: number; readonly body: string }> {
  return send((await world.start()).url, { method: 'GET', path: '/health/readiness' });
}

/** The answer once the first look is over. */
async function readinessWith(name: string, data: Readonly<Record<string, string>>, expected: number): Promise<string> {
  await world.create<ConfigMap>(configMaps, { metadata: { name, namespace: 'kube-reflex' }, data: { ...data } });
  const { url } = await world.start();
  for (;;) {
    const { status, body } = await send(url, { method: 'GET', path: '/health/readiness' });
    if (status === expected) {
      return body;
    }
  }
}

describe('readiness', () => {
  it('is given with usable settings and no state', async () => {
    world = await World.open();

    expect((await readiness()).status).toBe(200);
  });

  it.each([
    [{ restartDelay: 'soon' }, /istio-rollout-config: RESTART_DELAY must be a duration/],
    [{ maxInFlight: '0' }, /istio-rollout-config: MAX_IN_FLIGHT must be a whole number/],
    [{ restartAnnotation: 'example.com/at' }, /istio-rollout-config: RESTART_ANNOTATION takes other rights/],
    [{ istioNamespaces: 'istio-system,other' }, /istio-rollout-config: ISTIO_NAMESPACES takes other rights/],
    [{ unmanagedAction: 'evict', maxInFlight: '2' }, /istio-rollout-config: UNMANAGED_ACTION takes other rights/],
    [{ colour: 'red' }, /istio-rollout-config: there is no setting COLOUR/],
  ])('is refused with the settings %j, naming what is wrong', async (data, says) => {
    world = await World.open();

    expect(await readinessWith('istio-rollout-config', data, 503)).toMatch(says);
  });

  it('is refused with a state of a later version, which is left as it is', async () => {
    world = await World.open();
    const data = { queue: JSON.stringify({ v: 2, value: {} }) };

    expect(await readinessWith('istio-rollout-state', data, 503)).toContain('written by a later version (2)');
    expect(await world.tick()).toBe(503);
    expect(world.get<ConfigMap>(configMaps, 'istio-rollout-state', 'kube-reflex')?.data).toEqual(data);
  });
});
