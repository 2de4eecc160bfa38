import type { Pod, StatefulSet } from '../../kube/model/resource.ts';
import { type Caller, controller, type InternalApi, type ObjectEvent } from '../model/internal.ts';
import { claims, type ControllerRevision, controllerRevisions, pods, statefulSets } from './kinds.ts';
import { controllerOf, indexByOwner, keyOf, type Owned, parseKey } from './owned.ts';
import { isAvailable, isReady, nextAvailability } from './pod.ts';
import { createQueue } from './queue.ts';
import { counted } from './replica-set.ts';
import { pruneRevisions, reviseTemplate, type Revised, type Revisions } from './revisions.ts';
import { statefulPlan, type StatefulStep, usesCurrentRevision } from './stateful-plan.ts';
import { claimsOf, revisionOfPod, statefulPod } from './stateful-pod.ts';
import type { PodTemplate } from './template.ts';
import { removeObject, writeStatus } from './writes.ts';

const as: Caller = controller('statefulset');

type Status = NonNullable<StatefulSet['status']>;

/** Keeps the pods of StatefulSets, in order. The answer stops it. */
export function startStatefulSets(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);
  const owned: Owned<Pod> = indexByOwner(api, pods, lookAtOwner);
  const revisions: Owned<ControllerRevision> = indexByOwner(api, controllerRevisions, () => undefined);
  const unsubscribe = api.subscribe(statefulSets, ({ object }) => queue.add(keyOf(object)));
  for (const set of api.list(statefulSets)) {
    queue.add(keyOf(set));
  }

  function lookAtOwner({ object }: ObjectEvent): void {
    const owner = controllerOf(object);
    if (owner?.kind === 'StatefulSet') {
      queue.add(`${object.metadata?.namespace ?? ''}/${owner.name}`);
    }
  }

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const set = api.get(statefulSets, name, namespace) as StatefulSet | undefined;
    if (set?.spec !== undefined && set.metadata?.deletionTimestamp === undefined) {
      await reconcile(set, revisedOf(set, set.spec.template));
      recheck(key, set);
    }
  }

  async function reconcile(set: StatefulSet, revised: Revised): Promise<void> {
    const uid = uidOf(set);
    const known = await reviseTemplate(api, revised, revisions.of(uid), as);
    const updateRevision = nameOf(known.current);
    for (const step of statefulPlan({ set, pods: owned.of(uid), updateRevision })) {
      await carryOut(api, set, step, known);
    }
    await report(api, set, owned.of(uid), updateRevision);
    const inUse = new Set([...owned.of(uid).map(revisionOfPod), updateRevision, set.status?.currentRevision ?? '']);
    await pruneRevisions(api, revised, { all: known.all, inUse }, as);
  }

  /** Looks again when the next ready pod counts as available. */
  function recheck(key: string, set: StatefulSet): void {
    const wait = nextAvailability(owned.of(uidOf(set)), set.spec?.minReadySeconds ?? 0, api.now());
    if (wait !== undefined) {
      queue.addAfter(key, wait);
    }
  }

  return () => {
    queue.close();
    unsubscribe();
    owned.close();
    revisions.close();
  };
}

function uidOf({ metadata }: StatefulSet): string {
  return metadata?.uid ?? '';
}

function revisedOf(owner: StatefulSet, template: PodTemplate): Revised {
  const limit = owner.spec?.revisionHistoryLimit ?? 10;
  return { owner, kind: 'StatefulSet', template, hashLabel: 'controller.kubernetes.io/hash', limit };
}

function nameOf({ metadata }: ControllerRevision): string {
  return metadata?.name ?? '';
}

async function carryOut(api: InternalApi, set: StatefulSet, step: StatefulStep, known: Revisions): Promise<void> {
  if (step.do === 'delete') {
    await removeObject(api, pods, step.pod, as);
    return;
  }
  for (const { claim } of claimsOf(set, step.ordinal)) {
    if (api.get(claims, claim.metadata?.name ?? '', claim.metadata?.namespace) === undefined) {
      await api.create(claims, claim, as);
    }
  }
  const { template, revision } = templateFor(set, step.ordinal, known);
  await api.create(pods, statefulPod(set, step.ordinal, template, revision), as);
}

function templateFor(
  set: StatefulSet,
  ordinal: number,
  { all, current }: Revisions,
): { readonly template: PodTemplate; readonly revision: string } {
  const before = all.find((each) => nameOf(each) === set.status?.currentRevision);
  const used = before !== undefined && usesCurrentRevision(set, ordinal) ? before : current;
  const { spec } = used.data as { spec: { template: PodTemplate & { $patch?: string } } };
  const { $patch: _patch, ...template } = spec.template;
  return { template, revision: nameOf(used) };
}

async function report(
  api: InternalApi,
  { metadata }: StatefulSet,
  mine: readonly Pod[],
  updateRevision: string,
): Promise<void> {
  const set = api.get(statefulSets, metadata?.name ?? '', metadata?.namespace) as StatefulSet | undefined;
  if (set !== undefined) {
    const status = statusOf(set, mine, updateRevision, api.now());
    await writeStatus(api, statefulSets, { object: set, status, as });
  }
}

function statusOf(set: StatefulSet, mine: readonly Pod[], updateRevision: string, now: Date): Status {
  const currentRevision = currentRevisionOf(set, mine, updateRevision);
  return {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: mine.length,
    ...counted({
      readyReplicas: mine.filter(isReady).length,
      currentReplicas: ofRevision(mine, currentRevision),
      updatedReplicas: ofRevision(mine, updateRevision),
    }),
    currentRevision,
    updateRevision,
    collisionCount: 0,
    availableReplicas: mine.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
  };
}

/** The update becomes the current revision when every pod has it and is ready. */
function currentRevisionOf({ spec, status }: StatefulSet, mine: readonly Pod[], updateRevision: string): string {
  const replicas = spec?.replicas ?? 1;
  const counts = [mine.length, mine.filter(isReady).length, ofRevision(mine, updateRevision)];
  return counts.every((count) => count === replicas) ? updateRevision : (status?.currentRevision ?? updateRevision);
}

function ofRevision(mine: readonly Pod[], revision: string): number {
  return mine.filter((pod) => revisionOfPod(pod) === revision).length;
}
