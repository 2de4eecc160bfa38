import type { Pod } from '../../kube/model/resource.ts';
import { type Caller, controller, type InternalApi, type ObjectEvent } from '../model/internal.ts';
import { finishedAt, isFinished, jobStatus, podsToStart } from './job-status.ts';
import { type Job, jobs, pods } from './kinds.ts';
import { controllerOf, indexByOwner, keyOf, type Owned, parseKey } from './owned.ts';
import { isActive } from './pod.ts';
import { createQueue } from './queue.ts';
import { controllerReference, podFrom } from './template.ts';
import { removeObject, slowStart, writeStatus } from './writes.ts';

const as: Caller = controller('job');

/** Runs the pods of Jobs until enough have succeeded. The answer stops it. */
export function startJobs(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);
  const owned: Owned<Pod> = indexByOwner(api, pods, lookAtOwner);
  const unsubscribe = api.subscribe(jobs, ({ object }) => queue.add(keyOf(object)));
  for (const job of api.list(jobs)) {
    queue.add(keyOf(job));
  }

  function lookAtOwner({ object }: ObjectEvent): void {
    const owner = controllerOf(object);
    if (owner?.kind === 'Job') {
      queue.add(`${object.metadata?.namespace ?? ''}/${owner.name}`);
    }
  }

  async function look(key: string): Promise<void> {
    const job = read(key);
    if (job === undefined || job.metadata?.deletionTimestamp !== undefined) {
      return;
    }
    if (isFinished(job)) {
      await expire(key, job);
      return;
    }
    await run(job, owned.of(uidOf(job)));
    const current = read(key);
    if (current !== undefined) {
      const status = jobStatus(current, owned.of(uidOf(job)), api.now());
      await writeStatus(api, jobs, { object: current, status, as });
    }
  }

  async function run(job: Job, mine: readonly Pod[]): Promise<void> {
    await slowStart(podsToStart(job, mine), () => api.create(pods, podOf(job), as));
    const surplus = job.spec?.suspend === true ? mine.filter(isActive) : [];
    await slowStart(surplus.length, (index) => removeObject(api, pods, surplus[index] ?? {}, as));
  }

  function read(key: string): Job | undefined {
    const { namespace, name } = parseKey(key);
    return api.get(jobs, name, namespace);
  }

  /** A finished Job goes when its time to live is over. */
  async function expire(key: string, job: Job): Promise<void> {
    const seconds = job.spec?.ttlSecondsAfterFinished;
    if (seconds === undefined) {
      return;
    }
    const left = finishedAt(job) + seconds * 1000 - api.now().getTime();
    if (left > 0) {
      queue.addAfter(key, left);
    } else {
      await removeObject(api, jobs, job, as);
    }
  }

  return () => {
    queue.close();
    unsubscribe();
    owned.close();
  };
}

function uidOf({ metadata }: Job): string {
  return metadata?.uid ?? '';
}

function podOf(job: Job): Pod {
  const { namespace = '', name = '', uid = '' } = job.metadata ?? {};
  const made = podFrom(job.spec?.template ?? {}, namespace, controllerReference(job, 'batch/v1', 'Job'));
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
    ...made.metadata?.labels,
  };
  return { ...made, metadata: { ...made.metadata, labels } };
}
