import { afterEach, describe, expect, it } from '@jest/globals';
import {
  customResourceDefinitions,
  deployments,
  pods,
  replicaSets,
  statefulSets,
  type Deployment,
  type Pod,
} from '../../../lib/kube/model/resource.ts';
import { rollouts, type Rollout } from '../scan/kinds.ts';
import { rolloutDefinition } from './real/rollouts.ts';
import { newImage, oldImage, until, workloadOf } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const policy = 'istio-rollout.kube-reflex.dev/policy';

/** An Argo Rollout at rest, with the ReplicaSet that its controller would make. */
async function addRollout(name: string): Promise<void> {
  const { api } = world.sandbox;
  await api.create(customResourceDefinitions, rolloutDefinition);
  await until('the kind is served', () => api.kinds().some(({ plural }) => plural === 'rollouts'));
  const made = (await api.create(rollouts, workloadOf(name, {}))) as Rollout;
  const healthy: Rollout = { ...made, status: { phase: 'Healthy', observedGeneration: '1' } };
  await api.update(rollouts, healthy, { subresource: 'status' });
  const uid = made.metadata?.uid ?? '';
  const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name, uid, controller: true };
  const metadata = { name: `${name}-1`, namespace: 'shop', labels: { app: name }, ownerReferences: [owner] };
  await api.create(replicaSets, { ...made, apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata });
}

describe('what is left alone', () => {
  it('IR-20 a pod that was evicted long ago causes no restart, however often one looks', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    const [old] = world.podsOf('web');
    await world.upgrade();
    await world.drive();
    const { metadata, ...rest } = old ?? {};
    const { resourceVersion: _version, uid: _uid, ...kept } = metadata ?? {};
    const evicted = (await world.create(pods, { ...rest, metadata: { ...kept, name: 'evicted' } })) as Pod;
    await world.sandbox.api.update(pods, { ...evicted, status: { phase: 'Failed', reason: 'Evicted' } } as Pod, {
      subresource: 'status',
    });
    const before = world.restarts.length;

    for (let count = 0; count < 4; count += 1) {
      await world.tickLater(120);
    }

    expect(world.restarts.length).toBe(before);
  });

  it('IR-20 the same for an evicted pod of the present ReplicaSet, whose replacement has the new proxy', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    await world.tick();
    world.injector.behave({ image: newImage });
    const [old] = world.podsOf('web') as Pod[];
    await world.sandbox.api.update(pods, { ...old, status: { phase: 'Failed', reason: 'Evicted' } } as Pod, {
      subresource: 'status',
    });
    await until(
      'its replacement is there',
      () => world.podsOf('web').length === 2 && world.isSettled(deployments, 'web'),
    );
    await world.upgrade();

    for (let count = 0; count < 4; count += 1) {
      await world.tickLater(120);
    }

    const hashes = world.podsOf('web').map(({ metadata }) => metadata?.labels?.['pod-template-hash']);
    expect(new Set(hashes).size).toBe(1);
    expect(world.imagesOf('web').toSorted()).toEqual([oldImage, newImage]);
    expect(world.restarts).toEqual([]);
  });

  it('IR-21 a rollout that replaces the old pods already is not patched again', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m', COOLDOWN: '1m' });
    await world.deployment('web');
    await world.tick();
    world.breakPods(newImage, 'web');
    await world.upgrade();
    await world.change<Deployment>(deployments, ['web', 'shop'], (object) => {
      const { template } = object.spec ?? {};
      return template === undefined
        ? object
        : (Object.assign(template.metadata ?? {}, { annotations: { team: 'x' } }), object);
    });
    await until('a new pod', () => world.podsOf('web').length === 2);

    for (let count = 0; count < 4; count += 1) {
      await world.tickLater(120);
    }

    expect(world.restarts).toEqual([]);
  });

  it('IR-23 a paused Deployment is reported, and restarted after it goes on', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.change<Deployment>(
      deployments,
      ['web', 'shop'],
      (object) => (Object.assign(object.spec ?? {}, { paused: true }), object),
    );
    await world.tick();
    await world.upgrade();
    await world.tickLater();
    const reported = await world.row('web');
    const whilePaused = [...world.restarts];

    await world.change<Deployment>(
      deployments,
      ['web', 'shop'],
      (object) => (Object.assign(object.spec ?? {}, { paused: false }), object),
    );
    await world.settle();
    await world.tickLater();

    expect(whilePaused).toEqual([]);
    expect(reported).toMatchObject({ code: 'Paused', current: oldImage, expected: newImage });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('IR-24 a StatefulSet that replaces pods on deletion only is reported once', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.workload(statefulSets, 'db', { spec: { updateStrategy: { type: 'OnDelete' } } });
    await world.tick();

    await world.upgrade();
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater(120);
    }

    expect(world.restarts).toEqual([]);
    expect(world.eventsOf('ManualRestartRequired')).toEqual(['db']);
    expect(await world.row('db')).toMatchObject({ code: 'OnDelete' });
  });

  it('evicts pods of such a workload one at a time where that is wanted', async () => {
    world = await World.open({ ON_DELETE_ACTION: 'evict' });
    await world.workload(statefulSets, 'db', { replicas: 3, spec: { updateStrategy: { type: 'OnDelete' } } });
    await world.tick();

    await world.upgrade();
    for (let count = 0; count < 8; count += 1) {
      await world.tickLater(15);
      await until('three pods', () => world.podsOf('db').length === 3 && world.isSettled(statefulSets, 'db'));
    }

    expect(world.imagesOf('db')).toEqual([newImage]);
    expect(world.restarts).toEqual([]);
  });

  it('IR-25 pods without a workload are reported; an Argo Rollout is restarted in its own way', async () => {
    world = await World.open();
    const spec = { containers: [{ name: 'web', image: 'web' }] };
    await world.create<Pod>(pods, { metadata: { name: 'bare', namespace: 'shop', labels: { app: 'bare' } }, spec });
    const annotations = { 'sandbox.kube-reflex.dev/ready': 'never' };
    const template = { metadata: { labels: { app: 'job' }, annotations }, spec: { ...spec, restartPolicy: 'Never' } };
    const job = { metadata: { name: 'job', namespace: 'shop' }, spec: { template } };
    await world.sandbox.api.create({ group: 'batch', plural: 'jobs' }, job);
    await addRollout('canary');
    await until('all pods are there', () => ['bare', 'job', 'canary'].every((app) => world.podsOf(app).length === 1));
    const before = world.get<Rollout>(rollouts, 'canary', 'shop');
    await world.tick();

    await world.upgrade();
    await world.tickLater();

    const after = world.get<Rollout>(rollouts, 'canary', 'shop');
    const codes = (await world.status()).workloads.map(({ code }) => code);
    expect(after?.spec?.restartAt).toBe('2026-03-02T11:01:00Z');
    expect(after?.spec?.template).toEqual(before?.spec?.template);
    expect(codes.toSorted()).toEqual(['InFlight', 'Job', 'Unmanaged']);
  });

  it('IR-34 a dry run lists everything and writes to no workload', async () => {
    world = await World.openOutdated({ DRY_RUN: 'true' }, { a: {}, b: {} });

    await world.tickLater();

    expect((await world.status()).workloads.map(({ name, expected }) => [name, expected])).toEqual([
      ['a', newImage],
      ['b', newImage],
    ]);
    expect(world.restarts).toEqual([]);
    const written = world.calls.filter(({ verb }) => !['get', 'list'].includes(verb)).map(({ resource }) => resource);
    expect(new Set(written)).toEqual(new Set(['configmaps']));
  });

  it('IR-35 a workload may want what its namespace does not', async () => {
    world = await World.open();
    await world.namespace('quiet', { 'istio-injection': 'enabled' }, { [policy]: 'ignore' });
    await world.deployment('left', { namespace: 'quiet' });
    await world.deployment('wanted', { namespace: 'quiet', annotations: { [policy]: 'auto' } });
    await world.tick();

    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment quiet/wanted']);
    expect((await world.row('left'))?.code).toBe('OptedOut');
  });
});
