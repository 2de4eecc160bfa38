import { applications } from '../../../functions/freeze-check/hold/application.ts';
import { helmReleases, kustomizations } from '../../../functions/freeze-check/hold/flux.ts';
import {
  changeFreezes,
  freezeExceptions,
  maintenanceWindows,
  type Behavior,
} from '../../../functions/freeze-check/policy.ts';
import { configMaps, cronJobs, namespaces } from '../../../lib/kube/model/resource.ts';
import {
  application,
  cronJob,
  exception,
  freeze,
  namespaceNamed,
  nightly,
  pausing,
  suspending,
} from '../../../functions/freeze-check/test/objects.ts';
import { openWorld, type World } from '../../../functions/freeze-check/test/world.ts';
import { objectsOf, restore, type Captured, type Kept } from '../kept.ts';

export const automated = { prune: true, selfHeal: true };
export const freezeEnd = '2026-12-26T00:00:00Z';

const start = '2026-12-24T00:00:00Z';
const noon = '2026-12-25T12:00:00Z';
const kinds = [applications, kustomizations, helmReleases];
const fleet = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: 'u-1' };
/** Turns automated syncing off in place, where the other way takes it out. */
const gentle: Behavior = {
  gitops: {
    enabled: true,
    providers: ['argocd'],
    argocd: { pauseMode: 'SetEnabledFalse', applicationSelector: { matchLabels: { pause: 'gently' } } },
  },
};

/** The kept cluster at the time when it was kept. */
export async function openKept(kept: Kept): Promise<World> {
  const world = await openWorld({ at: kept.at.toISOString(), kinds });
  restore(world.sandbox, kept);
  return world;
}

/** Objects of every kind that a freeze holds, some of which stood still before. */
async function filled(): Promise<World> {
  const world = await openWorld({ at: noon, kinds });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(namespaces, namespaceNamed('argocd', {}));
  await world.create(namespaces, namespaceNamed('flux-system', {}));
  await world.create(cronJobs, cronJob('report'));
  await world.create(cronJobs, cronJob('retired', true));
  const soft = application('soft', automated);
  const owned = application('owned', automated);
  await world.create(applications, application('shop', automated));
  await world.create(applications, application('manual'));
  await world.create(applications, { ...soft, metadata: { ...soft.metadata, labels: { pause: 'gently' } } });
  await world.create(applications, { ...owned, metadata: { ...owned.metadata, ownerReferences: [fleet] } });
  const flux = { namespace: 'flux-system' };
  await world.create(kustomizations, { metadata: { ...flux, name: 'web' }, spec: { interval: '5m' } as object });
  await world.create(helmReleases, { metadata: { ...flux, name: 'db' }, spec: { suspend: true } });
  await world.create(changeFreezes, freeze('gentle', [start, freezeEnd], { behavior: gentle }));
  await world.create(changeFreezes, freeze('holiday', [start, freezeEnd], { behavior: { ...pausing, ...suspending } }));
  await world.create(changeFreezes, freeze('summer', ['2027-07-01T00:00:00Z', '2027-08-01T00:00:00Z']));
  await world.create(maintenanceWindows, nightly('nights', { behavior: suspending }));
  await world.create(freezeExceptions, exception('hotfix', [start, freezeEnd]));
  return world;
}

function captured({ sandbox, now }: World): Captured {
  const policies = [changeFreezes, maintenanceWindows, freezeExceptions];
  return {
    at: now(),
    settings: {},
    objects: objectsOf(sandbox, {
      kinds: [namespaces, configMaps, cronJobs, ...kinds, ...policies],
      identity: ['uid'],
      only: ({ metadata }) => !/^(default|kube-)/.test(metadata?.name ?? ''),
    }),
  };
}

async function after(work: (world: World) => Promise<unknown>): Promise<Captured> {
  const world = await filled();
  try {
    await work(world);
    return captured(world);
  } finally {
    await world.close();
  }
}

/** A freeze holds them all. */
async function held(world: World): Promise<void> {
  const { tick } = await world.replica();
  await tick();
}

/** The same, and somebody took the annotations off the Applications: the ledger alone knows what they were. */
async function stripped(world: World): Promise<void> {
  await held(world);
  for (const name of ['shop', 'soft', 'owned', 'manual']) {
    await world.edit(applications, { name, namespace: 'argocd' }, ({ metadata, ...rest }) => {
      const { annotations: _annotations, ...others } = metadata ?? {};
      return { ...rest, metadata: others };
    });
  }
}

/** The process died between the two writes: the ledger has the Applications, and none of them is paused. */
async function noted(world: World): Promise<void> {
  world.sandbox.faults.add({ verb: 'patch', resource: 'applications', effect: { do: 'cut', when: 'before' } });
  await held(world);
}

/** The freeze is over, and the process died before it gave the Applications back: only the others are as they were. */
async function givingBack(world: World): Promise<void> {
  const { tick } = await world.replica();
  await tick();
  world.turnTo(freezeEnd);
  world.sandbox.faults.add({ verb: 'patch', resource: 'applications', effect: { do: 'cut', when: 'before' } });
  await tick();
}

export const scenarios: Readonly<Record<string, () => Promise<Captured>>> = {
  held: () => after(held),
  stripped: () => after(stripped),
  noted: () => after(noted),
  'giving-back': () => after(givingBack),
};
