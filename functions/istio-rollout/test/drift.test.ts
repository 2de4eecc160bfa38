import { afterEach, describe, expect, it } from '@jest/globals';
import { parseImage } from '../drift/image.ts';
import { injectorConfigMap } from '../sandbox/istio.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { World } from './world.ts';

const [digest, otherDigest] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];
const untagged = 'registry:5000/istio/proxyv2';
const hub = 'docker.io/istio/proxyv2:1.29.0';
const mirror = 'mirror.example.com:5000/istio/proxyv2:1.29.0';

let world: World;

afterEach(() => world.close());

/** From now on pods get this proxy, and the ConfigMap of the control plane says so. */
async function injectFromNowOn(image: string): Promise<void> {
  world.turn(3600);
  world.injector.behave({ image });
  const { data = {} } = injectorConfigMap({ revision: 'default', tag: parseImage(image).tag ?? '' });
  await world.change<ConfigMap>(configMaps, ['istio-sidecar-injector', 'istio-system'], (object) => ({
    ...object,
    data: { ...data, config: `policy: enabled # ${image}\n` },
  }));
}

/** How often a workload with the one proxy is restarted when the other would be injected. */
async function restartsAfter(
  before: string,
  after: string,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  world = await World.open(settings);
  await injectFromNowOn(before);
  await world.deployment('web');
  await world.drive();
  const probes = world.injector.counts().probes;

  await injectFromNowOn(after);
  await world.configMapEvent();
  await world.drive();
  await world.drive();

  expect(world.injector.counts().probes).toBeGreaterThan(probes); // the difference was there to be seen
  expect(world.state().pending).toBeUndefined(); // and nobody doubts it
  return world.restarts.length;
}

describe('proxies that are named differently', () => {
  it.each([
    { name: 'IR-13 no tag means latest', before: untagged, after: `${untagged}:latest`, restarts: 0 },
    { name: 'IR-13 latest means no tag', before: `${untagged}:latest`, after: untagged, restarts: 0 },
    { name: 'IR-13 the port of a registry is no tag', before: untagged, after: `${untagged}:1.29.0`, restarts: 1 },
    { name: 'IR-14 another digest counts', before: `${hub}@${digest}`, after: `${hub}@${otherDigest}`, restarts: 1 },
    { name: 'IR-14 the same digest does not', before: `${mirror}@${digest}`, after: `${hub}@${digest}`, restarts: 0 },
    { name: 'IR-14 one digest alone does not', before: hub, after: `${hub}@${digest}`, restarts: 0 },
    { name: 'IR-15 a mirror is as good', before: hub, after: mirror, restarts: 0 },
    { name: 'IR-16 a variant counts', before: hub, after: `${hub}-distroless`, restarts: 1 },
    { name: 'IR-16 and so does its end', before: `${hub}-distroless`, after: hub, restarts: 1 },
  ])('$name', async ({ before, after, restarts }) => {
    expect(await restartsAfter(before, after, {})).toBe(restarts);

    expect(world.imagesOf('web')).toEqual([restarts === 0 ? before : after]);
    expect(await world.row('web')).toEqual(
      restarts === 0 ? undefined : expect.objectContaining({ code: 'Restarted', current: before, expected: after }),
    );
  });

  it.each([
    { name: 'IR-15 a mirror counts if registries do', before: hub, after: mirror, restarts: 1 },
    { name: 'IR-15 Docker Hub by its name does not', before: 'istio/proxyv2:1.29.0', after: hub, restarts: 0 },
  ])('$name', async ({ before, after, restarts }) => {
    expect(await restartsAfter(before, after, { COMPARE_HUB: 'true' })).toBe(restarts);

    expect(world.imagesOf('web')).toEqual([restarts === 0 ? before : after]);
  });
});
