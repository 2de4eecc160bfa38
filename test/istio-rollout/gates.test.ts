import { afterEach, describe, expect, it } from '@jest/globals';
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
  type Deployment,
  type Pod,
} from '../../lib/kube/resource.ts';
import { rollouts, type Rollout } from '../../functions/istio-rollout/scan/kinds.ts';
import { rolloutDefinition } from '../real/rollouts.ts';
import { newImage, oldImage, patchedTo, until, World, workloadOf } from './world.ts';

let world: World;

afterEach(() => world.close());

const policy = 'istio-rollout.kube-reflex.dev/policy';

async function openOutdated(
  settings: Readonly<Record<string, string>>,
  names: readonly string[] = ['web'],
): Promise<void> {
  world = await World.open(settings);
  for (const name of names) {
    await world.deployment(name);
  }
  await world.tick();
  await world.upgrade();
}

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

async function removePods(app: string, namespace = 'shop'): Promise<void> {
  for (const { metadata } of world.podsOf(app, namespace)) {
    await world.sandbox.api.remove(pods, { name: metadata?.name ?? '', namespace });
  }
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
    await openOutdated({ DRY_RUN: 'true' }, ['a', 'b']);

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

describe('waves', () => {
  it('IR-26 never more rollouts at once than allowed, and the next only after one has ended', async () => {
    world = await World.open({ MAX_IN_FLIGHT: '5', MAX_IN_FLIGHT_PER_NAMESPACE: '1' });
    const teams = ['a', 'b', 'c', 'd'];
    for (const team of teams) {
      await world.namespace(team, { 'istio-injection': 'enabled' });
      for (let index = 0; index < 5; index += 1) {
        await world.sandbox.api.create(deployments, workloadOf(`web-${index}`, { namespace: team }));
      }
    }
    await world.settle();
    await world.tick();
    await world.upgrade();
    world.breakPods(newImage, 'web-0');
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater();
    }
    const whileRolling = world.restarts.toSorted();

    world.injector.behave({ answer: () => undefined });
    for (const team of teams) {
      await removePods('web-0', team);
    }
    await world.settle();
    await world.drive();

    expect(whileRolling).toEqual(teams.map((team) => `Deployment ${team}/web-0`));
    expect(world.restarts).toHaveLength(20);
    expect(new Set(world.restarts).size).toBe(20);
  });

  it('IR-27 a rollout that does not get ready pauses the run; it goes on when that one recovers', async () => {
    await openOutdated({ ROLLOUT_TIMEOUT: '10m' }, ['a', 'b', 'c']);
    world.breakPods(newImage, 'b');
    await world.tickLater();
    await world.settle();
    await world.tickLater();
    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']);

    await world.tickLater(900);
    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']);
    expect(world.eventsOf('RestartFailed')).toEqual(['b']);
    expect(await world.metric('run_paused')).toBe(1);
    expect((await world.status()).paused).toContain('Deployment shop/b');

    world.injector.behave({ answer: () => undefined });
    await removePods('b');
    await world.settle();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b', 'Deployment shop/c']);
    expect(await world.metric('run_paused')).toBe(0);
  });

  it('goes on after a pause on command, within the limits', async () => {
    await openOutdated({ ROLLOUT_TIMEOUT: '1m', MAX_IN_FLIGHT_PER_NAMESPACE: '2', RESTART_DELAY: '1m' }, [
      'a',
      'b',
      'c',
    ]);
    world.breakPods(newImage, 'a', 'b');
    await world.tickLater();
    await world.tickLater(120);
    expect((await world.status()).paused).toContain('Deployment shop/a');

    await world.change(configMaps, ['istio-rollout-state', 'kube-reflex'], (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'istio-rollout.kube-reflex.dev/resume': 'now' } },
    }));
    await world.tickLater();
    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/a', 'Deployment shop/b']); // both are unready: no room for c
    expect(world.get(configMaps, 'istio-rollout-state', 'kube-reflex')?.metadata?.annotations ?? {}).toEqual({});
  });

  it('IR-30 the delay between restarts holds although the instance is another', async () => {
    await openOutdated({ RESTART_DELAY: '10s', MAX_IN_FLIGHT_PER_NAMESPACE: '5' }, ['a', 'b']);
    await world.tickLater(15.9); // the annotation tells no fractions of a second
    const next = await world.start();

    world.turn(9.9);
    await world.tick(next);
    const early = [...world.restarts];
    world.turn(0.1);
    await world.tick(next);

    expect([early.length, world.restarts.length]).toEqual([1, 2]);
  });

  it('IR-31 restarts that cannot help end after maxAttempts', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    await world.tick();
    world.injector.behave({
      answer: ({ dryRun, object }) => (dryRun === true ? undefined : patchedTo(object ?? {}, oldImage)),
    });

    await world.upgrade();
    for (let count = 0; count < 8; count += 1) {
      await world.tickLater(600);
      await world.settle();
    }

    expect(world.restarts).toEqual(['Deployment shop/web', 'Deployment shop/web']);
    expect(world.eventsOf('RestartIneffective')).toEqual(['web']);
    expect((await world.row('web'))?.code).toBe('Ineffective');
  });

  it('IR-36 while the window is closed restarts wait for it, and a tick is enough when it opens', async () => {
    await openOutdated({ WINDOW: 'Mon 13:00-14:00 Europe/Berlin' });
    await world.tickLater();
    const closed = [...world.restarts];
    const row = await world.row('web');

    world.turn(3600);
    await world.tick();

    expect(closed).toEqual([]);
    expect(row).toMatchObject({ code: 'Window', until: '2026-03-02T12:00:00Z' });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('IR-36 follows a window that somebody moves while restarts wait for it, with the next scan', async () => {
    await openOutdated({ WINDOW: 'Mon 13:00-14:00 Europe/Berlin', RECONCILE_PERIOD: '1m' });
    await world.tickLater();
    const closed = await world.row('web');

    await world.change<Deployment>(deployments, ['web', 'shop'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: { 'istio-rollout.kube-reflex.dev/window': 'Mon 00:00-23:00 UTC' } },
    }));
    await world.tickLater(60);
    await world.tickLater();

    expect(closed).toMatchObject({ code: 'Window' });
    expect(world.restarts).toEqual(['Deployment shop/web']);
  });

  it('waits while a disruption budget allows no disruption', async () => {
    await openOutdated({});
    const selector = { matchLabels: { app: 'web' } };
    await world.create(podDisruptionBudgets, {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { minAvailable: 1, selector },
    });
    await until('its status', () => world.get(podDisruptionBudgets, 'web', 'shop')?.status?.disruptionsAllowed === 0);
    await world.tickLater();
    const before = [...world.restarts];

    await world.sandbox.api.remove(podDisruptionBudgets, { name: 'web', namespace: 'shop' });
    await world.tickLater();

    expect([before, world.restarts]).toEqual([[], ['Deployment shop/web']]);
  });

  it.each([
    'istio-rollout.kube-reflex.dev/restartedAt',
    'fortsa.scaffidi.net/restartedAt',
    'kubectl.kubernetes.io/restartedAt',
  ])('honours the cooldown after %s', async (annotation) => {
    world = await World.open({ COOLDOWN: '3h' });
    await world.deployment('web', { templateAnnotations: { [annotation]: '2026-03-02T10:00:00Z' } });
    await world.tick();
    await world.upgrade();
    await world.tickLater();

    expect(world.restarts).toEqual([]);
    expect(await world.row('web')).toMatchObject({ code: 'Cooldown', until: '2026-03-02T13:00:00Z' });
  });
});
