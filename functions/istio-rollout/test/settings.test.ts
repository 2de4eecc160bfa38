import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { revisionWebhooks } from '../sandbox/istio.ts';
import {
  configMaps,
  daemonSets,
  deployments,
  mutatingWebhooks,
  pods,
  replicaSets,
  type MutatingWebhookConfiguration,
} from '../../../lib/kube/model/resource.ts';
import { newImage, oldImage, until, workloadOf } from './objects.ts';
import { World } from './world.ts';

let world: World;
const servers: Server[] = [];

afterEach(async () => {
  await world.close();
  for (const server of servers.splice(0)) {
    server.close();
  }
});

/** Answers as freeze-check does, whatever `answer` says at that moment; the paths it was asked for go to `asked`. */
async function startFreeze(answer: () => object, asked: string[]): Promise<string> {
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer()));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/evaluate`;
}

describe('FREEZE_URL', () => {
  it('holds restarts back until the time that it names, and is asked again then', async () => {
    let answer: object = { allow: false, nextAllowedTime: '2026-03-02T12:00:00Z' };
    const asked: string[] = [];
    const url = await startFreeze(() => answer, asked);
    world = await World.openOutdated({ FREEZE_URL: url });
    await world.tickLater();
    const frozen = await world.row('web');

    answer = { allow: true };
    await world.tickLater(1800);
    const before = [...world.restarts];
    await world.tickLater(3600);

    expect(frozen).toMatchObject({ code: 'Frozen', until: '2026-03-02T12:00:00Z' });
    expect(new Set(asked)).toEqual(new Set(['/v1/evaluate?namespace=shop&kind=Deployment&name=web&action=ROLL_OUT']));
    expect([before, world.restarts]).toEqual([[], ['Deployment shop/web']]);
  });

  it('that does not answer is a no, and that is told with its cause', async () => {
    world = await World.openOutdated({ FREEZE_URL: 'http://127.0.0.1:1/v1/evaluate' });

    await world.tickLater();

    expect(world.restarts).toEqual([]);
    expect(await world.row('web')).toMatchObject({ code: 'Frozen' });
    const told = world.logged.find(({ msg }) => msg === 'FREEZE_URL gives no answer, which counts as a no');
    expect(told).toMatchObject({ level: 40, err: { message: expect.stringMatching(/^fetch failed: \S/) } });
  });
});

describe('a FREEZE_URL that does not answer', () => {
  it('is left alone for the pass after three questions, so that a pass does not wait for each', async () => {
    let asked = 0;
    const server = createServer(({ socket }) => {
      asked += 1;
      socket.destroy();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const names = ['a', 'b', 'c', 'd', 'e'];
    const shapes = Object.fromEntries(names.map((name) => [name, {}]));
    world = await World.openOutdated({ FREEZE_URL: `http://127.0.0.1:${port}/v1/evaluate` }, shapes);

    await world.tickLater();

    const rows = await Promise.all(names.map((name) => world.row(name)));
    expect(asked).toBe(3);
    expect(rows.map((row) => row?.code)).toEqual(names.map(() => 'Frozen'));
    expect(world.restarts).toEqual([]);
  });
});

describe('the command to scan', () => {
  it.each([
    { scan: 'shop/web', scans: undefined },
    { scan: 'shop,', scans: 1 },
  ])('of "$scan" heeds what is a namespace, warns about the rest and stops nothing', async ({ scan, scans }) => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();
    const command = 'istio-rollout.kube-reflex.dev/scan';
    await world.change(configMaps, ['istio-rollout-state', 'kube-reflex'], (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [command]: scan } },
    }));

    expect(await world.tick()).toBe(204);

    expect(world.state().counters['scans_total{command}']).toBe(scans);
    expect(world.warnings(`${command} names what is not a namespace`)).toBe(1);
    expect(world.get(configMaps, 'istio-rollout-state', 'kube-reflex')?.metadata?.annotations ?? {}).toEqual({});
  });
});

describe('kinds', () => {
  it('a DaemonSet is restarted', async () => {
    world = await World.open();
    await world.workload(daemonSets, 'agent');
    await world.tick();
    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['DaemonSet shop/agent']);
    expect(world.imagesOf('agent')).toEqual([newImage]);
  });

  it.each([
    { action: 'report', images: [oldImage] },
    { action: 'evict', images: [newImage] },
  ])('with UNMANAGED_ACTION=$action pods of a bare ReplicaSet end with $images', async ({ action, images }) => {
    world = await World.open({ UNMANAGED_ACTION: action });
    await world.sandbox.api.create(replicaSets, workloadOf('bare', { replicas: 2 }));
    await until('its pods are up', () => world.podsOf('bare').length === 2);
    await world.tick();
    let fewest = 2;
    world.sandbox.api.subscribe(pods, () => {
      fewest = Math.min(fewest, world.podsOf('bare').length);
    });
    await world.upgrade();
    for (let count = 0; count < 6; count += 1) {
      await world.tickLater(15);
      await until('its pods are up', () => world.podsOf('bare').length === 2);
    }

    expect(world.imagesOf('bare')).toEqual(images);
    expect(fewest).toBe(action === 'evict' ? 1 : 2);
  });

  it('one that may not be listed leaves the others alone, and that is told', async () => {
    world = await World.openOutdated();
    world.sandbox.faults.add({ verb: 'list', resource: 'daemonsets', effect: { do: 'refuse', status: 403 } });

    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.warnings('kind cannot be listed')).toBe(1);
  });
});

describe('waves', () => {
  it('MAX_IN_FLIGHT_PODS counts pods, and lets a larger workload go alone', async () => {
    const limits = { MAX_IN_FLIGHT_PER_NAMESPACE: '5', MAX_IN_FLIGHT_PODS: '3' };
    world = await World.openOutdated(limits, {
      a: { replicas: 2 },
      b: { replicas: 2 },
      c: {},
      d: { replicas: 5 },
    });
    const waves = new Set<string>();
    world.sandbox.api.subscribe(configMaps, () => {
      const { inflight } = world.state();
      waves.add(inflight.map(({ name }) => name).join(' '));
    });
    await world.drive();

    expect(world.restarts).toHaveLength(4);
    expect([...waves].toSorted()).toEqual(['', 'a', 'a c', 'b', 'c', 'd'].filter((wave) => waves.has(wave)));
    expect([waves.has('a c'), waves.has('d')]).toEqual([true, true]);
  });

  it('MAX_IN_FLIGHT_PODS costs nothing while there is no room: nobody is asked about what has to wait', async () => {
    const limits = { MAX_IN_FLIGHT_PER_NAMESPACE: '5', MAX_IN_FLIGHT_PODS: '3' };
    const two = { replicas: 2 };
    world = await World.openOutdated(limits, { a: two, b: two, c: two });
    world.breakPods(newImage, 'a');
    await world.tickLater();
    const { probes } = world.injector.counts();

    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/a']);
    expect(world.injector.counts().probes - probes).toBe(0);
  });

  it('REQUIRE_ISTIOD_READY waits while istiod of the revision is itself being rolled out', async () => {
    world = await World.openOutdated();
    const labels = { app: 'istiod', 'istio.io/rev': 'default' };
    const istiod = workloadOf('istiod', {
      namespace: 'istio-system',
      templateAnnotations: { 'sandbox.kube-reflex.dev/ready': 'never' },
    });
    await world.sandbox.api.create(deployments, { ...istiod, metadata: { ...istiod.metadata, labels } });
    await world.tickLater();
    const waiting = await world.row('web');
    const before = [...world.restarts];

    await world.sandbox.api.remove(deployments, { name: 'istiod', namespace: 'istio-system' });
    await world.tickLater();

    expect(waiting).toMatchObject({ code: 'IstiodNotReady' });
    expect([before, world.restarts]).toEqual([[], ['Deployment shop/web']]);
  });
});

describe('probes', () => {
  it('PROBE_MODE=dryRun asks the API server, which asks the injectors', async () => {
    world = await World.openOutdated({ PROBE_MODE: 'dryRun' });

    await world.tickLater();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(world.calls.filter(({ verb, resource }) => `${verb} ${resource}` === 'create pods')).not.toEqual([]);
    expect(world.podsOf('web').length).toBeGreaterThan(0);
  });

  it.each([
    { remove: 'false', restarts: [] },
    { remove: 'true', restarts: ['Deployment shop/web'] },
  ])('REMOVE_SIDECARS=$remove and a proxy that nobody would inject now: $restarts', async ({ remove, restarts }) => {
    world = await World.openOutdated({ REMOVE_SIDECARS: remove });
    world.injector.behave({ answer: () => ({ allowed: true }) });

    await world.drive();

    expect(world.restarts).toEqual(restarts);
    expect(world.imagesOf('web')).toEqual([remove === 'true' ? undefined : oldImage]);
  });

  it('two injectors for one pod are asked one after the other, and that is told', async () => {
    world = await World.open();
    await world.deployment('web');
    const second = await world.addInjector(newImage, 'default');
    const webhooks: MutatingWebhookConfiguration = revisionWebhooks('default', second.clientConfig);
    await world.create(mutatingWebhooks, { ...webhooks, metadata: { ...webhooks.metadata, name: 'z-second' } });

    await world.tick();

    const [asked] = second.asked;
    expect(asked?.pod.spec?.containers.map(({ name }) => name)).toEqual(['web', 'istio-proxy']);
    expect(world.warnings('MultipleInjectors')).toBe(1);
  });
});
