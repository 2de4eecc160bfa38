import type { Deployment, ReplicaSet } from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { type Caller, controller, type InternalApi } from '../model/internal.ts';
import { isEqual } from '../schema/value.ts';
import { adopt } from './adopt.ts';
import { createdNews, deadlineOf, deploymentStatus, foundNews } from './deployment-status.ts';
import { deployments, replicaSets } from './kinds.ts';
import { controllerOf, indexByOwner, keyOf, type Owned, parseKey } from './owned.ts';
import { createQueue } from './queue.ts';
import { freshReplicaSet, isSameTemplate, revisionAnnotation, revisionOf, withScale } from './revision.ts';
import { isScaling, recreateStep, replicasOf, type Rollout, rollingStep, scaleStep, type Targets } from './rollout.ts';
import { controllerReference } from './template.ts';
import { removeObject, writeStatus } from './writes.ts';

const as: Caller = controller('deployment');

/** Rolls Deployments out over ReplicaSets. The answer stops it. */
export function startDeployments(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);
  const owned: Owned<ReplicaSet> = indexByOwner(api, replicaSets, ({ object, old }) => {
    for (const replicaSet of old === undefined ? [object] : [object, old]) {
      const owner = controllerOf(replicaSet);
      if (owner?.kind === 'Deployment') {
        queue.add(`${replicaSet.metadata?.namespace ?? ''}/${owner.name}`);
      }
    }
  });
  const unsubscribe = api.subscribe(deployments, ({ object }) => queue.add(keyOf(object)));
  for (const deployment of api.list(deployments)) {
    queue.add(keyOf(deployment));
  }

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const deployment = api.get(deployments, name, namespace) as Deployment | undefined;
    if (deployment === undefined) {
      return;
    }
    await adopt(api, {
      owner: deployment,
      selector: deployment.spec?.selector,
      reference: controllerReference(deployment, 'apps/v1', 'Deployment'),
      kind: replicaSets,
      orphans: owned.orphans(namespace),
      as,
    });
    await reconcile(api, deployment, owned);
    const deadline = deadlineOf(api.get(deployments, name, namespace) ?? {});
    if (deadline !== undefined) {
      queue.addAfter(key, Math.max(0, deadline.getTime() - api.now().getTime()));
    }
  }

  return () => {
    queue.close();
    unsubscribe();
    owned.close();
  };
}

async function reconcile(api: InternalApi, deployment: Deployment, owned: Owned<ReplicaSet>): Promise<void> {
  const rollout = rolloutOf(deployment, owned);
  const isEnding = deployment.metadata?.deletionTimestamp !== undefined;
  if (isEnding) {
    return report(api, deployment, owned);
  }
  if (deployment.spec?.paused === true || isScaling(rollout)) {
    await scale(api, rollout, isScaling(rollout) ? scaleStep(rollout) : new Map());
    return report(api, deployment, owned);
  }
  if (await ensureFresh(api, rollout)) {
    return;
  }
  await scale(api, rollout, nextStep(rollout));
  await removeOldest(api, rollout);
  return report(api, deployment, owned);
}

function rolloutOf(deployment: Deployment, owned: Owned<ReplicaSet>): Rollout {
  const all = owned.of(deployment.metadata?.uid ?? '').toSorted(oldestFirst);
  const fresh = all.find((each) => isSameTemplate(deployment, each));
  return { deployment, ...(fresh && { fresh }), old: all.filter((each) => each !== fresh) };
}

function oldestFirst(a: ReplicaSet, b: ReplicaSet): number {
  const [left = '', right = ''] = [a.metadata?.creationTimestamp, b.metadata?.creationTimestamp];
  return left === right ? revisionOf(a) - revisionOf(b) : Date.parse(left) - Date.parse(right);
}

function nextStep(rollout: Rollout): Targets {
  const { deployment, fresh, old } = rollout;
  if (deployment.spec?.strategy?.type === 'Recreate') {
    return recreateStep(rollout, old.every(isEmpty));
  }
  return fresh === undefined ? new Map() : rollingStep({ ...rollout, fresh });
}

/** Makes sure that the fresh ReplicaSet exists with its revision; true when it wrote, and so will be called again. */
async function ensureFresh(api: InternalApi, rollout: Rollout): Promise<boolean> {
  const next = freshReplicaSet(rollout);
  const name = next.metadata?.name ?? '';
  if (rollout.fresh === undefined) {
    if (waitsForOldPods(rollout)) {
      return false;
    }
    await api.create(replicaSets, next, as);
    await announce(api, rollout, next, createdNews(name));
    return true;
  }
  const isRevised = isEqual(rollout.fresh.metadata?.annotations, next.metadata?.annotations);
  if (!isRevised) {
    await api.update(replicaSets, next, {}, as);
  }
  const isAnnounced = revisionNote(rollout.deployment) === revisionNote(next);
  if (!isAnnounced) {
    await announce(api, rollout, next, foundNews(name));
  }
  return !isRevised || !isAnnounced;
}

function waitsForOldPods({ deployment, old }: Rollout): boolean {
  return deployment.spec?.strategy?.type === 'Recreate' && !old.every(isEmpty);
}

/** No pod is left, not even one that is on its way out. */
function isEmpty(replicaSet: ReplicaSet): boolean {
  const { replicas = 0, terminatingReplicas = 0 } = replicaSet.status ?? {};
  return replicasOf(replicaSet) + replicas + terminatingReplicas === 0;
}

function revisionNote({ metadata }: KubeObject): string | undefined {
  return metadata?.annotations?.[revisionAnnotation];
}

/** Writes revision and news through `status`: that leaves the generation alone. */
async function announce(
  api: InternalApi,
  { deployment, old }: Rollout,
  fresh: ReplicaSet,
  news: ReturnType<typeof createdNews>,
): Promise<void> {
  const { name = '', namespace } = deployment.metadata ?? {};
  const current = api.get(deployments, name, namespace) as Deployment | undefined;
  if (current === undefined) {
    return;
  }
  const revision = fresh.metadata?.annotations?.[revisionAnnotation] ?? '';
  const annotations = { ...current.metadata?.annotations, [revisionAnnotation]: revision };
  const rollout = { deployment: current, fresh, old };
  const updated = {
    ...current,
    metadata: { ...current.metadata, annotations },
    status: deploymentStatus(rollout, api.now(), news),
  };
  await api.update(deployments, updated, { subresource: 'status' }, as);
}

async function scale(api: InternalApi, { deployment, fresh, old }: Rollout, targets: Targets): Promise<void> {
  for (const replicaSet of [...(fresh ? [fresh] : []), ...old]) {
    const scaled = withScale(deployment, replicaSet, targets.get(replicaSet.metadata?.name ?? ''));
    if (scaled !== undefined) {
      await api.update(replicaSets, scaled, {}, as);
    }
  }
}

/** Forgets ReplicaSets beyond the history that the Deployment wants to keep. */
async function removeOldest(api: InternalApi, { deployment, old }: Rollout): Promise<void> {
  const limit = deployment.spec?.revisionHistoryLimit ?? 10;
  const empty = old.filter((each) => replicasOf(each) === 0 && (each.status?.replicas ?? 0) === 0);
  const surplus = empty.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, old.length - limit));
  for (const replicaSet of surplus) {
    await removeObject(api, replicaSets, replicaSet, as);
  }
}

async function report(api: InternalApi, { metadata }: Deployment, owned: Owned<ReplicaSet>): Promise<void> {
  const current = api.get(deployments, metadata?.name ?? '', metadata?.namespace) as Deployment | undefined;
  if (current !== undefined) {
    const status = deploymentStatus(rolloutOf(current, owned), api.now());
    await writeStatus(api, deployments, { object: current, status, as });
  }
}
