import { afterEach, describe, expect, it } from '@jest/globals';
import {
  configMaps,
  deployments,
  namespaces,
  statefulSets,
  type ConfigMap,
  type Deployment,
  type Namespace,
} from '../../../lib/kube/model/resource.ts';
import { newImage, oldImage } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const codes = {
  declined: undefined, // nobody need know of it
  denied: 'ConfigInvalid',
  held: 'Partitioned',
  manual: 'OnDelete',
  left: 'OptedOut',
  paused: 'Paused',
};

/** Workloads that no restart helps, each for its own reason, after a change of the control plane. */
async function openStuck(settings: Readonly<Record<string, string>>): Promise<void> {
  world = await World.open(settings);
  await world.deployment('declined');
  await world.deployment('denied');
  await world.deployment('left', { annotations: { 'istio-rollout.kube-reflex.dev/policy': 'report' } });
  await world.deployment('paused');
  await world.workload(statefulSets, 'manual', { spec: { updateStrategy: { type: 'OnDelete' } } });
  const rollingUpdate = { partition: 1 };
  await world.workload(statefulSets, 'held', { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } });
  await world.change<Deployment>(
    deployments,
    ['paused', 'shop'],
    (object) => (Object.assign(object.spec ?? {}, { paused: true }), object),
  );
  await world.tick();
  world.injector.behave({
    answer: ({ object }) => {
      const app = object?.metadata?.labels?.['app'];
      return app === 'denied' || app === 'declined' ? { allowed: app === 'declined' } : undefined;
    },
  });
  await world.upgrade();
  await world.tickLater();
  await world.tickLater();
}

async function expectCodes(): Promise<void> {
  const rows = await Promise.all(Object.keys(codes).map(async (name) => [name, (await world.row(name))?.code]));
  expect(Object.fromEntries(rows)).toEqual(codes);
}

function probes(): number {
  return world.injector.counts().probes;
}

describe('workloads that stay as they are', () => {
  it('are not asked about in an hour without change, and cost no write but one checkpoint per full scan', async () => {
    await openStuck({ RECONCILE_PERIOD: '10m' });
    await expectCodes();
    const before = probes();
    world.calls.length = 0;

    for (let passed = 0; passed < 60; passed += 1) {
      await world.tickLater();
    }

    expect(probes()).toBe(before);
    expect(world.calls.filter(({ verb }) => !['get', 'list'].includes(verb)).length).toBeLessThanOrEqual(6);
    await expectCodes();
    expect(await world.row('left')).toMatchObject({ detail: 'image', expected: newImage });
    expect(world.eventsOf('ManualRestartRequired').toSorted()).toEqual(['held', 'manual']);
    expect(world.restarts).toEqual([]);
  });

  it('are asked about again on command, and where people want something else for them', async () => {
    await openStuck({ RECONCILE_PERIOD: '10m' });
    const before = probes();
    const annotations = { 'istio-rollout.kube-reflex.dev/scan': 'all' };
    await world.change<ConfigMap>(configMaps, ['istio-rollout-state', 'kube-reflex'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations },
    }));
    await world.tickLater();
    const commanded = probes() - before;

    await world.change<Deployment>(deployments, ['left', 'shop'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: {} },
    }));
    await world.tickLater(600);
    await world.drive(2);

    expect(commanded).toBe(Object.keys(codes).length);
    expect(world.restarts).toEqual(['Deployment shop/left']);
  });
});

describe('a workload that was found current', () => {
  /** What `web` would get is another now, and nothing that is looked at says so. */
  async function openChanged(): Promise<void> {
    world = await World.open();
    await world.deployment('web');
    await world.create<ConfigMap>(configMaps, {
      metadata: { namespace: 'istio-system', name: 'istio' },
      data: { mesh: 'defaultConfig: {}' },
    });
    await world.tick();
    world.turn(3600);
    await world.publish('1.28.4-debug');
    await world.configMapEvent();
    await world.tickLater();
    world.injector.behave({ image: `${oldImage}-distroless` });
  }

  it('is asked about again once a day, for what decides about it may lie where nobody looks', async () => {
    await openChanged();
    const before = probes();
    for (let hour = 0; hour < 23; hour += 1) {
      await world.tickLater(3600);
    }
    const meanwhile = probes() - before;
    await world.tickLater(3600);
    await world.tickLater(3600);

    expect(meanwhile).toBe(0);
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('is asked about again by the next scan after the mesh configuration has changed', async () => {
    await openChanged();
    await world.change<ConfigMap>(configMaps, ['istio', 'istio-system'], (object) => ({
      ...object,
      data: { mesh: 'defaultConfig: { image: { imageType: distroless } }' },
    }));
    await world.tickLater();
    const early = [...world.restarts];
    await world.tickLater(3600);

    expect([early, world.restarts]).toEqual([[], ['Deployment shop/web']]);
  });

  it('is asked about again when labels that only the selectors know give it to another injector', async () => {
    world = await World.open({ RECONCILE_PERIOD: '10m' });
    const other = await world.addInjector(newImage, 'default');
    await world.deployment('web');
    await world.split({ label: 'team', value: 'blue' }, other.clientConfig);
    await world.tickLater(3600);
    await world.tickLater();

    await world.change<Namespace>(namespaces, ['shop'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { ...metadata?.labels, team: 'blue' } },
    }));
    const before = other.counts().probes;
    await world.tickLater(600);

    expect([before, other.counts().probes]).toEqual([0, 1]);
  });
});
