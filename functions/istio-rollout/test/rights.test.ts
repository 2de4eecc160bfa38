import { afterEach, describe, expect, it } from '@jest/globals';
import { Config } from '../config.ts';
import { permissions } from '../permissions.ts';
import { controllerRevisions, rollouts, type Rollout } from '../scan/kinds.ts';
import { parseConfig } from '../../../lib/function/config.ts';
import {
  customResourceDefinitions,
  daemonSets,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
  type Pod,
  type ReplicationController,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject, OwnerReference } from '../../../lib/kube/model/wire.ts';
import { rolloutDefinition } from './real/rollouts.ts';
import { until, workloadOf } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

const everything = {
  ON_DELETE_ACTION: 'evict',
  UNMANAGED_ACTION: 'evict',
  PROBE_MODE: 'dryRun',
  MAX_IN_FLIGHT: '20',
  MAX_IN_FLIGHT_PER_NAMESPACE: '20',
};

function granted(settings: Readonly<Record<string, string>>): readonly string[] {
  const all = permissions(parseConfig(Config, settings)).flatMap(({ verbs, resources }) =>
    verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
  );
  return [...new Set(all)].sort();
}

/** What the API server saw of the function since `listen`. */
function used(): readonly string[] {
  return [...new Set(world.sandbox.faults.fired.map(({ verb, resource }) => `${verb} ${resource}`))].sort();
}

/** A fault that changes nothing, and is written down each time. */
function listen(): void {
  world.sandbox.faults.add({ effect: { do: 'delay', ms: 0 } });
}

async function addPod(name: string, owner: OwnerReference): Promise<void> {
  await world.create<Pod>(pods, {
    metadata: { name, namespace: 'shop', labels: { app: name }, ownerReferences: [{ ...owner, controller: true }] },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  });
}

/** One workload of each kind that can be restarted, and what hangs on a ControllerRevision. */
async function fill(): Promise<void> {
  const { api } = world.sandbox;
  await api.create(customResourceDefinitions, rolloutDefinition);
  await until('the kind is served', () => api.kinds().some(({ plural }) => plural === 'rollouts'));
  await world.deployment('web');
  await world.workload(statefulSets, 'db');
  await world.workload(statefulSets, 'held', { spec: { updateStrategy: { type: 'OnDelete' } } });
  await world.workload(daemonSets, 'agent');
  await api.create(replicaSets, workloadOf('bare', {}));
  const made = (await api.create(rollouts, workloadOf('canary', {}))) as Rollout;
  const healthy: Rollout = { ...made, status: { phase: 'Healthy', observedGeneration: '1' } };
  await api.update(rollouts, healthy, { subresource: 'status' });
  const old = workloadOf('old', {});
  const controller: ReplicationController = await api.create(replicationControllers, {
    ...old,
    spec: { ...old.spec, selector: { app: 'old' } },
  } as KubeObject);
  const ready: ReplicationController = { ...controller, status: { replicas: 1, availableReplicas: 1 } };
  await api.update(replicationControllers, ready, { subresource: 'status' });
  const revision = await api.create(controllerRevisions, {
    metadata: { name: 'stray', namespace: 'shop' },
    revision: 1,
  } as KubeObject);
  await addPod('canary', {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    name: 'canary',
    uid: made.metadata?.uid ?? '',
  });
  await addPod('old', {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    name: 'old',
    uid: controller.metadata?.uid ?? '',
  });
  await addPod('stray', {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    name: 'stray',
    uid: revision.metadata?.uid ?? '',
  });
}

describe('rights', () => {
  it('with all features on, everything that is granted is used and nothing else', async () => {
    world = await World.open(everything);
    await fill();
    listen();
    await world.tick();
    await world.upgrade();
    await world.webhookEvent('istio-sidecar-injector');
    await world.namespaceEvent('shop');
    for (let count = 0; count < 4; count += 1) {
      await world.tickLater(15);
    }

    expect(used()).toEqual(granted(everything));
  });

  it('a dry run asks for no right to change a workload, and needs none', async () => {
    world = await World.open({ DRY_RUN: 'true' });
    await world.deployment('web');
    listen();
    await world.tick();
    await world.upgrade();
    await world.tickLater();

    const rights = granted({ DRY_RUN: 'true' });
    const writes = rights.filter((right) => !/^(get|list) /.test(right));
    expect(writes).toEqual(['create configmaps', 'patch configmaps']);
    expect(used().filter((call) => !rights.includes(call))).toEqual([]);
  });

  it.each([{}, everything, { DRY_RUN: 'true' }])('with %j nothing is watched and no Secret is read', (settings) => {
    expect(granted(settings).filter((right) => /^watch | secrets$|\*/.test(right))).toEqual([]);
  });
});
