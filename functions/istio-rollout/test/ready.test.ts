import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { send, type Received } from '../../../test/support/http.ts';
import { until } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const unknown = 'has not looked at its settings and state yet';

function readiness({ url }: Running): Promise<Received> {
  return send(url, { method: 'GET', path: '/health/readiness' });
}

/** The answer once the first look is over. */
async function readinessAfterLook(app: Running): Promise<Received> {
  for (;;) {
    const received = await readiness(app);
    if (!received.body.startsWith(unknown)) {
      return received;
    }
  }
}

async function readinessWith(name: string, data: Readonly<Record<string, string>>): Promise<Received> {
  await world.create<ConfigMap>(configMaps, { metadata: { name, namespace: 'kube-reflex' }, data: { ...data } });
  return readinessAfterLook(await world.start());
}

describe('readiness', () => {
  it('is given with usable settings and no state', async () => {
    world = await World.open();

    expect((await readinessAfterLook(await world.start())).status).toBe(200);
  });

  it('is given only after a look: what cannot be read may be wrong', async () => {
    world = await World.open();
    world.sandbox.faults.add({ verb: 'get', resource: 'configmaps', effect: { do: 'delay', ms: 200 } });
    const app = await world.start();

    const early = await readiness(app);
    const later = await readinessAfterLook(app);

    expect([early.status, early.body.trim(), later.status]).toEqual([503, unknown, 200]);
  });

  it('is not given while the API server is away, and soon after it is back', async () => {
    world = await World.open();
    const comesBack = world.sandbox.faults.add({
      verb: 'get',
      resource: 'configmaps',
      effect: { do: 'cut', when: 'before' },
    });
    const app = await world.start();
    await until('the first look has failed', () => world.logged.some(({ key }) => key === 'readiness'));

    const meanwhile = await readiness(app);
    comesBack();
    const since = performance.now();
    const later = await readinessAfterLook(app);

    expect([meanwhile.status, meanwhile.body.trim(), later.status]).toEqual([503, unknown, 200]);
    expect(performance.now() - since).toBeLessThan(30_000);
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

    expect(await readinessWith('istio-rollout-config', data)).toMatchObject({
      status: 503,
      body: expect.stringMatching(says),
    });
  });

  it('is refused with a state of a later version, which is left as it is', async () => {
    world = await World.open();
    const data = { queue: JSON.stringify({ v: 2, value: {} }) };

    expect(await readinessWith('istio-rollout-state', data)).toMatchObject({
      status: 503,
      body: expect.stringContaining('written by a later version (2)'),
    });
    expect(await world.tick()).toBe(503);
    expect(world.get<ConfigMap>(configMaps, 'istio-rollout-state', 'kube-reflex')?.data).toEqual(data);
  });
});
