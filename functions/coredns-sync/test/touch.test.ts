import { afterEach, expect, it } from '@jest/globals';
import { pods, type Pod } from '../../../lib/kube/model/resource.ts';
import { openWorld, until, type World } from './world.ts';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

function touched(name: string): boolean {
  const { annotations = {} } = world.sandbox.api.get(pods, name, 'kube-system')?.metadata ?? {};
  return 'coredns-sync.kube-reflex.dev/touched-at' in annotations;
}

async function open(names: readonly string[]): Promise<void> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', TOUCH_PODS: 'true' });
  await world.sandbox.api.create(
    { group: '', plural: 'serviceaccounts' },
    { metadata: { name: 'default', namespace: 'kube-system' } },
  );
  for (const name of names) {
    const metadata = { name, namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
    const pod: Pod = { metadata, spec: { containers: [{ name: 'coredns', image: 'coredns' }] } };
    await world.sandbox.api.create(pods, pod);
  }
}

it('with TOUCH_PODS a pod that goes while others are touched keeps nobody from being touched', async () => {
  await open(['coredns-a', 'coredns-b', 'coredns-c']);
  const effect = { do: 'refuse', status: 409 } as const;
  world.sandbox.faults.add({ verb: 'patch', resource: 'pods', name: 'coredns-b', effect });
  await world.ingress('web', ['api.example.com']);

  expect(await world.tell('add', 'web')).toBe(204);
  expect(['coredns-a', 'coredns-b', 'coredns-c'].filter(touched)).toEqual(['coredns-a', 'coredns-c']);
});

it('with TOUCH_PODS an annotation that a pod gets meanwhile as its first stays', async () => {
  await open(['coredns-a']);
  const { sandbox, ingress, tell } = world;
  sandbox.faults.add({ verb: 'patch', resource: 'pods', times: 1, effect: { do: 'delay', ms: 300 } });
  await ingress('web', ['api.example.com']);
  const told = tell('add', 'web');
  await until(() => sandbox.faults.fired.length === 1);
  const pod = structuredClone(sandbox.api.get(pods, 'coredns-a', 'kube-system')) as Pod;
  await sandbox.api.update(pods, {
    ...pod,
    metadata: { ...pod.metadata, annotations: { 'cni.example/ip': '10.0.0.1' } },
  });

  expect(await told).toBe(204);
  expect(touched('coredns-a')).toBe(true);
  expect(sandbox.api.get(pods, 'coredns-a', 'kube-system')?.metadata?.annotations).toHaveProperty(['cni.example/ip']);
});

it('with TOUCH_PODS that is refused the event is done all the same, and a condition says so', async () => {
  await open(['coredns-a']);
  world.sandbox.faults.add({ verb: 'list', resource: 'pods', effect: { do: 'refuse', status: 403 } });
  await world.tick();
  await world.ingress('web', ['api.example.com']);

  expect(await world.tell('add', 'web')).toBe(204);
  expect(world.conditions()).toHaveProperty('DnsForbidden');
});
