import { afterEach, expect, it } from '@jest/globals';
import { pods, type Pod } from '../../../lib/kube/resource.ts';
import { openWorld, type World } from '../../../test/coredns-sync/world.ts';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

function touched(name: string): boolean {
  const { annotations = {} } = world.sandbox.api.get(pods, name, 'kube-system')?.metadata ?? {};
  return 'coredns-sync.kube-reflex.dev/touched-at' in annotations;
}

it('with TOUCH_PODS a pod that goes while others are touched keeps nobody from being touched', async () => {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', TOUCH_PODS: 'true' });
  await world.sandbox.api.create(
    { group: '', plural: 'serviceaccounts' },
    { metadata: { name: 'default', namespace: 'kube-system' } },
  );
  for (const name of ['coredns-a', 'coredns-b', 'coredns-c']) {
    const metadata = { name, namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
    const pod: Pod = { metadata, spec: { containers: [{ name: 'coredns', image: 'coredns' }] } };
    await world.sandbox.api.create(pods, pod);
  }
  const effect = { do: 'refuse', status: 409 } as const;
  world.sandbox.faults.add({ verb: 'patch', resource: 'pods', name: 'coredns-b', effect });
  await world.ingress('web', ['api.example.com']);

  expect(await world.tell('add', 'web')).toBe(204);
  expect(['coredns-a', 'coredns-b', 'coredns-c'].filter(touched)).toEqual(['coredns-a', 'coredns-c']);
});
