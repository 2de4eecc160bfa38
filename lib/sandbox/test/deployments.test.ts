import { describe, expect, it } from '@jest/globals';
import { type Deployment, deployments, pods, replicaSets } from '../../kube/model/resource.ts';
import { eventually, settle } from './turned-clock.ts';
import { namespace, never, readyMs, template, useWorkloads, withTemplateAnnotations } from './workloads.ts';

const { api, turn, list, get, running } = useWorkloads();

describe('a Deployment', () => {
  it('has its pods ready after the set time, not before', async () => {
    await createDeployment({ replicas: 3 });

    await eventually(() => running() === 3, 'three pods run');
    await settle();
    expect(deployment().status).toMatchObject({ replicas: 3, unavailableReplicas: 3 });
    turn(readyMs);
    await eventually(() => deployment().status?.availableReplicas === 3, 'three pods are available');

    expect(deployment().status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ['Available', 'MinimumReplicasAvailable'],
      ['Progressing', 'NewReplicaSetAvailable'],
    ]);
    expect(deployment().metadata).toMatchObject({
      generation: 1,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
    });
  });

  it('replaces its pods step by step and keeps the old template as a revision', async () => {
    await createDeployment({ replicas: 3 });
    await allAvailable(3);

    await changeTemplate({ v: '2' });
    await eventually(() => list(pods).length === 4, 'one pod more than wanted');
    await settle();
    expect(deployment().status?.availableReplicas).toBe(3);
    await rolledOut(3);

    expect(revisions()).toEqual([
      ['1', 0],
      ['2', 3],
    ]);
  });

  it('goes back to an earlier template under a new revision', async () => {
    await createDeployment({ replicas: 1 });
    await allAvailable(1);
    await changeTemplate({ v: '2' });
    await rolledOut(1);

    await changeTemplate(undefined);
    await rolledOut(1);

    expect(revisions()).toEqual([
      ['2', 0],
      ['3', 1],
    ]);
  });

  it('keeps no more revisions than asked', async () => {
    await createDeployment({ replicas: 1, revisionHistoryLimit: 1 });
    await allAvailable(1);

    for (const v of ['2', '3', '4']) {
      await changeTemplate({ v });
      await rolledOut(1);
    }

    await eventually(() => list(replicaSets).length === 2, 'one old ReplicaSet is left');
    expect(revisions().map(([revision]) => revision)).toEqual(['3', '4']);
  });

  it('does not move while it is paused', async () => {
    await createDeployment({ replicas: 1, paused: true });
    await eventually(() => deployment().status?.observedGeneration === 1, 'the Deployment was seen');
    await settle();

    expect(list(replicaSets)).toEqual([]);
    expect(deployment().status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' }),
    );
  });

  it('ends the old pods before it starts new ones when it recreates', async () => {
    await createDeployment({ replicas: 2, strategy: { type: 'Recreate' } });
    await allAvailable(2);
    const seen: number[] = [];
    const stop = api().subscribe(pods, () => seen.push(list(pods).length));

    await changeTemplate({ v: '2' });
    await rolledOut(2);
    stop();

    expect(Math.min(...seen)).toBe(0);
    expect(Math.max(...seen)).toBe(2);
  });

  it('says when it makes no progress', async () => {
    await createDeployment({ replicas: 1, progressDeadlineSeconds: 5, annotations: never });
    await eventually(() => running() === 1, 'the pod runs');
    await settle();

    turn(7000);
    await eventually(
      () => deployment().status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded'),
      'the deadline passed',
    );

    expect(deployment().status?.availableReplicas).toBeUndefined();
  });

  it('reports that its pods are refused', async () => {
    await createDeployment({ replicas: 1, spec: { serviceAccountName: 'nobody' } });

    const failure = await eventually(
      () => deployment().status?.conditions?.find(({ type }) => type === 'ReplicaFailure'),
      'the failure is reported',
    );

    expect(failure.reason).toBe('FailedCreate');
    expect(failure.message).toContain('serviceaccount "nobody" not found');
  });

  it('takes ready pods last when it shrinks', async () => {
    await createDeployment({ replicas: 2 });
    await allAvailable(2);
    const kept = list(pods).map(({ metadata }) => metadata?.name);
    await scale(4);
    await eventually(() => list(pods).length === 4, 'four pods');

    await scale(2);
    await eventually(() => list(pods).length === 2, 'two pods');

    expect(
      list(pods)
        .map(({ metadata }) => metadata?.name)
        .sort(),
    ).toEqual(kept.sort());
  });
});

interface DeploymentChoice {
  readonly replicas: number;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
  readonly [field: string]: unknown;
}

async function createDeployment({ replicas, annotations, spec, ...rest }: DeploymentChoice): Promise<void> {
  const made = template('web');
  await api().create(deployments, {
    metadata: { name: 'web', namespace },
    ...{
      spec: {
        replicas,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { ...made.metadata, ...(annotations && { annotations }) },
          spec: { ...made.spec, ...spec },
        },
        ...rest,
      },
    },
  });
}

function deployment(): Deployment {
  return get(deployments, 'web');
}

async function allAvailable(count: number): Promise<void> {
  await eventually(() => running() === count, `${String(count)} pods run`);
  await settle();
  turn(readyMs);
  await eventually(() => deployment().status?.availableReplicas === count, `${String(count)} pods are available`);
}

/** Turns the clock until the rollout is through. */
async function rolledOut(count: number): Promise<void> {
  await eventually(() => {
    turn(50);
    const { metadata, status = {} } = deployment();
    return (
      status.observedGeneration === metadata?.generation &&
      [status.replicas, status.updatedReplicas, status.availableReplicas].every((each) => each === count)
    );
  }, 'the rollout is through');
}

async function changeTemplate(annotations: Record<string, string> | undefined): Promise<void> {
  await api().update(deployments, withTemplateAnnotations(deployment(), annotations));
}

async function scale(replicas: number): Promise<void> {
  const current = deployment();
  await api().update(deployments, { ...current, ...{ spec: { ...current.spec, replicas } } });
}

function revisions(): [string, number][] {
  return list(replicaSets)
    .map(({ metadata, spec }): [string, number] => [
      metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? '',
      spec?.replicas ?? 0,
    ])
    .sort(([a], [b]) => Number(a) - Number(b));
}
