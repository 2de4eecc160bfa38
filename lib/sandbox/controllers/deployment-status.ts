import type { V1DeploymentCondition } from '@kubernetes/client-node';
import type { Deployment, ReplicaSet } from '../../kube/model/resource.ts';
import type { Wire } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';
import { availableOf, limitsOf, replicasOf, type Rollout, wanted } from './rollout.ts';

type Status = NonNullable<Deployment['status']>;
type Condition = Wire<V1DeploymentCondition>;

const complete = 'NewReplicaSetAvailable';

interface Progress {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** The status that the ReplicaSets add up to. `news` is what this pass has just done, such as creating one. */
export function deploymentStatus(rollout: Rollout, now: Date, news?: Progress): Status {
  const { deployment, fresh, old } = rollout;
  const all = [...(fresh ? [fresh] : []), ...old];
  const counts = countsOf(all, fresh);
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    ...nonZero(counts),
    ...nonZero({ unavailableReplicas: Math.max(0, sum(all, replicasOf) - counts.availableReplicas) }),
    terminatingReplicas: sum(all, ({ status }) => status?.terminatingReplicas ?? 0),
    conditions: conditionsOf(rollout, counts, now, news),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** When an unfinished rollout counts as failed, unless it moves. */
export function deadlineOf(deployment: Deployment): Date | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds;
  const progress = progressing(deployment);
  const since = Date.parse(progress?.lastUpdateTime ?? '');
  const isOpen = progress?.status === 'True' && progress.reason !== complete;
  return seconds === undefined || !isOpen ? undefined : new Date(since + seconds * 1000);
}

export function createdNews(name: string): Progress {
  return { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${name}"` };
}

export function foundNews(name: string): Progress {
  return { status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set "${name}"` };
}

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

function countsOf(all: readonly ReplicaSet[], fresh: ReplicaSet | undefined): Counts {
  return {
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: fresh?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: sum(all, availableOf),
  };
}

function sum(all: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return all.reduce((total, each) => total + count(each), 0);
}

function nonZero<T extends object>(counters: T): Partial<T> {
  return Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0)) as Partial<T>;
}

function conditionsOf(rollout: Rollout, counts: Counts, now: Date, news: Progress | undefined): Condition[] {
  const { deployment } = rollout;
  const before = deployment.status?.conditions ?? [];
  const available = availability(deployment, counts.availableReplicas);
  const progress = news ?? progressOf(rollout, counts, now);
  const kept = progressing(deployment);
  const next = [
    condition(before, 'Available', available, now),
    ...(progress ? [condition(before, 'Progressing', progress, now)] : kept ? [kept] : []),
    ...failureOf(rollout, now),
  ];
  const order = before.map(({ type }) => type);
  return next.toSorted((a, b) => rank(order, a.type) - rank(order, b.type));
}

/** Conditions keep the places they have; new ones go behind. */
function rank(order: readonly string[], type: string): number {
  const place = order.indexOf(type);
  return place < 0 ? order.length : place;
}

function availability(deployment: Deployment, available: number): Progress {
  return available >= wanted(deployment) - limitsOf(deployment).maxUnavailable
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : {
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

/** What the numbers say about the rollout; `undefined` when there is nothing new to say. */
function progressOf({ deployment, fresh }: Rollout, counts: Counts, now: Date): Progress | undefined {
  const reason = progressing(deployment)?.reason;
  const paused = pauseOf(deployment, reason);
  if (paused !== undefined || fresh === undefined || deployment.spec?.paused === true) {
    return paused;
  }
  const isSettled = reason === complete && counts.replicas === counts.updatedReplicas;
  return isSettled ? undefined : movementOf(deployment, `ReplicaSet "${fresh.metadata?.name ?? ''}"`, counts, now);
}

function movementOf(deployment: Deployment, name: string, counts: Counts, now: Date): Progress | undefined {
  if (isComplete(deployment, counts)) {
    return { status: 'True', reason: complete, message: `${name} has successfully progressed.` };
  }
  if (hasMoved(deployment.status, counts)) {
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${name} is progressing.` };
  }
  const deadline = deadlineOf(deployment);
  return deadline !== undefined && deadline.getTime() <= now.getTime()
    ? { status: 'False', reason: 'ProgressDeadlineExceeded', message: `${name} has timed out progressing.` }
    : undefined;
}

function progressing({ status }: Deployment): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Progressing');
}

function pauseOf({ spec }: Deployment, reason: string | undefined): Progress | undefined {
  const isPaused = spec?.paused === true;
  if (isPaused && reason !== 'DeploymentPaused') {
    return { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' };
  }
  return !isPaused && reason === 'DeploymentPaused'
    ? { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' }
    : undefined;
}

function isComplete(deployment: Deployment, counts: Counts): boolean {
  const target = wanted(deployment);
  return counts.updatedReplicas === target && counts.replicas === target && counts.availableReplicas === target;
}

function hasMoved(before: Deployment['status'], counts: Counts): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = before ?? {};
  return (
    counts.updatedReplicas > updatedReplicas ||
    counts.replicas - counts.updatedReplicas < replicas - updatedReplicas ||
    counts.readyReplicas > readyReplicas ||
    counts.availableReplicas > availableReplicas
  );
}

/** A ReplicaSet that cannot make its pods says so here too. */
function failureOf({ deployment, fresh, old }: Rollout, now: Date): Condition[] {
  const failed = [...(fresh ? [fresh] : []), ...old]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  const before = deployment.status?.conditions ?? [];
  return failed === undefined
    ? []
    : [
        condition(
          before,
          'ReplicaFailure',
          { status: 'True', reason: failed.reason ?? '', message: failed.message ?? '' },
          now,
        ),
      ];
}

/** Each time changes only with its subject: the transition with the status, the update with anything. */
function condition(before: readonly Condition[], type: string, progress: Progress, now: Date): Condition {
  const known = before.find((each) => each.type === type);
  const isSame =
    known?.status === progress.status && known.reason === progress.reason && known.message === progress.message;
  if (isSame && progress.reason !== 'ReplicaSetUpdated') {
    return known;
  }
  const time = timestamp(now);
  return {
    type,
    status: progress.status,
    lastUpdateTime: time,
    lastTransitionTime: known?.status === progress.status ? (known.lastTransitionTime ?? time) : time,
    reason: progress.reason,
    message: progress.message,
  };
}
