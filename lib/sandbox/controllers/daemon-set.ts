import type { DaemonSet, Node, Pod } from '../../kube/model/resource.ts';
import { type Caller, controller, type InternalApi, type ObjectEvent } from '../model/internal.ts';
import { daemonPod, daemonPlan, nodeOf } from './daemon-plan.ts';
import { type ControllerRevision, controllerRevisions, daemonSets, nodes, pods } from './kinds.ts';
import { controllerOf, indexByOwner, keyOf, type Owned, parseKey } from './owned.ts';
import { isAvailable, isReady, isTerminating } from './pod.ts';
import { createQueue } from './queue.ts';
import { counted } from './replica-set.ts';
import { pruneRevisions, reviseTemplate, type Revised } from './revisions.ts';
import { problemWith } from './scheduling.ts';
import type { PodTemplate } from './template.ts';
import { removeObject, slowStart, writeStatus } from './writes.ts';

const as: Caller = controller('daemon-set');
const hashLabel = 'controller-revision-hash';

type Status = NonNullable<DaemonSet['status']>;

/** Keeps one pod of each DaemonSet on every node that fits. The answer stops it. */
export function startDaemonSets(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);
  const owned: Owned<Pod> = indexByOwner(api, pods, lookAtOwner);
  const revisions: Owned<ControllerRevision> = indexByOwner(api, controllerRevisions, () => undefined);
  const stops = [
    api.subscribe(daemonSets, ({ object }) => queue.add(keyOf(object))),
    api.subscribe(nodes, lookAtAll),
    () => queue.close(),
    () => owned.close(),
    () => revisions.close(),
  ];
  lookAtAll();

  function lookAtAll(): void {
    for (const set of api.list(daemonSets)) {
      queue.add(keyOf(set));
    }
  }

  function lookAtOwner({ object }: ObjectEvent): void {
    const owner = controllerOf(object);
    if (owner?.kind === 'DaemonSet') {
      queue.add(`${object.metadata?.namespace ?? ''}/${owner.name}`);
    }
  }

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const set = api.get(daemonSets, name, namespace) as DaemonSet | undefined;
    if (set?.spec === undefined || set.metadata?.deletionTimestamp !== undefined) {
      return;
    }
    const uid = set.metadata?.uid ?? '';
    const revised = revisedOf(set, set.spec.template);
    const { all, hash } = await reviseTemplate(api, revised, revisions.of(uid), as);
    const eligible = eligibleNodes(api, set);
    const { create, remove } = daemonPlan({ set, pods: owned.of(uid), eligible, hash });
    await slowStart(create.length, (index) => api.create(pods, daemonPod(set, create[index] ?? '', hash), as));
    await slowStart(remove.length, (index) => removeObject(api, pods, remove[index] ?? {}, as));
    await report(api, set, owned.of(uid), hash);
    const inUse = new Set([hash, ...owned.of(uid).map(hashOf)].map((each) => `${name}-${each}`));
    await pruneRevisions(api, revised, { all, inUse }, as);
  }

  return () => stops.forEach((stop) => stop());
}

function revisedOf(owner: DaemonSet, template: PodTemplate): Revised {
  return { owner, kind: 'DaemonSet', template, hashLabel, limit: owner.spec?.revisionHistoryLimit ?? 10 };
}

function hashOf({ metadata }: Pod): string {
  return metadata?.labels?.[hashLabel] ?? '';
}

function eligibleNodes(api: InternalApi, set: DaemonSet): ReadonlySet<string> {
  const all = api.list(nodes) as readonly Node[];
  const names = all.map(({ metadata }) => metadata?.name ?? '');
  return new Set(names.filter((name, index) => problemWith(daemonPod(set, name, ''), all[index] ?? {}) === undefined));
}

async function report(api: InternalApi, { metadata }: DaemonSet, mine: readonly Pod[], hash: string): Promise<void> {
  const set = api.get(daemonSets, metadata?.name ?? '', metadata?.namespace) as DaemonSet | undefined;
  if (set !== undefined) {
    const status = statusOf(set, { mine, hash, eligible: eligibleNodes(api, set), now: api.now() });
    await writeStatus(api, daemonSets, { object: set, status, as });
  }
}

interface Situation {
  readonly mine: readonly Pod[];
  readonly hash: string;
  readonly eligible: ReadonlySet<string>;
  readonly now: Date;
}

function statusOf(set: DaemonSet, { mine, hash, eligible, now }: Situation): Status {
  const seconds = set.spec?.minReadySeconds ?? 0;
  const placed = mine.filter((pod) => eligible.has(nodeOf(pod)) && !isTerminating(pod));
  const available = placed.filter((pod) => isAvailable(pod, seconds, now)).length;
  return {
    currentNumberScheduled: new Set(placed.map(nodeOf)).size,
    numberMisscheduled: mine.filter((pod) => !eligible.has(nodeOf(pod))).length,
    desiredNumberScheduled: eligible.size,
    numberReady: placed.filter(isReady).length,
    observedGeneration: set.metadata?.generation ?? 0,
    ...counted({
      updatedNumberScheduled: placed.filter((pod) => hashOf(pod) === hash).length,
      numberAvailable: available,
      numberUnavailable: eligible.size - available,
    }),
  };
}
