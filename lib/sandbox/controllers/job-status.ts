import type { V1JobCondition } from '@kubernetes/client-node';
import type { Pod } from '../../kube/model/resource.ts';
import type { Wire } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';
import type { Job } from './kinds.ts';
import { isActive, isReady, isTerminating } from './pod.ts';
import { counted } from './replica-set.ts';

type Status = NonNullable<Job['status']>;
type Condition = Wire<V1JobCondition>;

export function isFinished({ status }: Job): boolean {
  return status?.conditions?.some(({ type, status: is }) => isEnd(type) && is === 'True') ?? false;
}

export function finishedAt({ status }: Job): number {
  return Date.parse(status?.conditions?.find(({ type }) => isEnd(type))?.lastTransitionTime ?? '') || 0;
}

function isEnd(type: string): boolean {
  return type === 'Complete' || type === 'Failed';
}

/** How many pods to start now: as many as are still to succeed, at most `parallelism` at a time. */
export function podsToStart(job: Job, mine: readonly Pod[]): number {
  const { parallelism = 1, completions, suspend = false } = job.spec ?? {};
  const { active, succeeded, failed } = countsOf(mine);
  if (suspend || outcomeOf(job, { active, succeeded, failed }) !== undefined) {
    return 0;
  }
  const wanted = completions === undefined ? parallelism : Math.min(parallelism, completions - succeeded);
  return Math.max(0, wanted - active);
}

interface Counts {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
}

function countsOf(mine: readonly Pod[]): Counts {
  return {
    active: mine.filter(isActive).length,
    succeeded: mine.filter(({ status }) => status?.phase === 'Succeeded').length,
    failed: mine.filter(({ status }) => status?.phase === 'Failed').length,
  };
}

export function jobStatus(job: Job, mine: readonly Pod[], now: Date): Status {
  const counts = countsOf(mine);
  const outcome = outcomeOf(job, counts);
  return {
    ...(outcome === undefined ? suspension(job, now) : { conditions: conditions(outcome, now) }),
    ...startOf(job, now),
    ...(outcome?.type === 'Complete' && { completionTime: timestamp(now) }),
    ...counted({ ...counts }),
    terminating: mine.filter(isTerminating).length,
    uncountedTerminatedPods: {},
    ready: mine.filter((pod) => isActive(pod) && isReady(pod)).length,
  };
}

/** A suspended Job has not started yet. */
function startOf({ spec, status }: Job, now: Date): Pick<Status, 'startTime'> {
  const startTime = status?.startTime ?? (spec?.suspend === true ? undefined : timestamp(now));
  return startTime === undefined ? {} : { startTime };
}

interface Outcome {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

function outcomeOf({ spec }: Job, { active, succeeded, failed }: Counts): Outcome | undefined {
  const { completions, backoffLimit = 6 } = spec ?? {};
  if (failed > backoffLimit) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message };
  }
  const isDone = completions === undefined ? succeeded > 0 && active === 0 : succeeded >= completions;
  return isDone
    ? { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

/** The end is announced first and then confirmed, both at once here. */
function conditions({ type, reason, message }: Outcome, now: Date): Condition[] {
  const time = timestamp(now);
  const common = { status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
  return [
    { type: type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', ...common },
    { type, ...common },
  ];
}

function suspension({ spec, status }: Job, now: Date): Pick<Status, 'conditions'> {
  if (spec?.suspend !== true) {
    return {};
  }
  const known = status?.conditions?.find(({ type }) => type === 'Suspended');
  const time = timestamp(now);
  const common = { status: 'True', lastProbeTime: time, lastTransitionTime: time };
  return { conditions: [known ?? { type: 'Suspended', ...common, reason: 'JobSuspended', message: 'Job suspended' }] };
}
