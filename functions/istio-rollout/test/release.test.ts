import { afterEach, describe, expect, it } from '@jest/globals';
import istioRollout from '../index.ts';
import { deployments, pods, type Deployment } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { newImage, restartAnnotation } from './objects.ts';
import { World } from './world.ts';
import { install, leaving, usersView } from '../../../test/release/cluster.ts';

const opened: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

describe('istio-rollout leaves', () => {
  it('half-way through a wave: no pod is replaced by it, and only the mark of the restart stays', async () => {
    const world = await World.open({ RESTART_DELAY: '1h' });
    opened.push(() => world.close());
    await world.deployment('one');
    await world.deployment('two');
    const before = usersView(world.sandbox, istioRollout);
    await install(world.sandbox, istioRollout);
    await world.tick();
    await world.upgrade();
    await world.tickLater(15);
    const restarted = [...world.restarts];
    const [, name = ''] = restarted[0]?.split('/') ?? [];
    await until(() => world.imagesOf(name).join() === newImage, 'the restarted workload has its new pod');
    await world.settle();
    const uids = podsIn(world);

    const first = await leaving(world.sandbox, istioRollout);
    await world.settle();
    const second = await leaving(world.sandbox, istioRollout);

    expect(restarted).toHaveLength(1);
    expect(first.remains).toEqual([]);
    expect(second).toEqual({ steps: [], remains: [] });
    expect(podsIn(world)).toEqual(uids);
    const after = usersView(world.sandbox, istioRollout);
    const differing = Object.keys({ ...before, ...after }).filter(
      (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
    );
    expect(differing.sort()).toEqual(['ConfigMap istio-system/istio-sidecar-injector', `Deployment shop/${name}`]);
    const deployment = world.get<Deployment>(deployments, name, 'shop');
    expect(ownAnnotations(deployment?.metadata)).toEqual([]);
    expect(ownAnnotations(deployment?.spec?.template.metadata)).toEqual([restartAnnotation]);
    expect(world.imagesOf(name)).toEqual([newImage]);
  });
});

function podsIn({ sandbox }: World): readonly (string | undefined)[] {
  const all = sandbox.api.list(pods, { namespace: 'shop' });
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined).map(({ metadata }) => metadata?.uid);
}

function ownAnnotations(metadata: KubeObject['metadata']): readonly string[] {
  return Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes('kube-reflex.dev/'));
}
