import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type DaemonSet,
  daemonSets,
  type Deployment,
  deployments,
  type Node,
  nodes,
  type Pod,
  pods,
  replicaSets,
  type Resource,
  type StatefulSet,
  statefulSets,
} from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import type { Job } from '../../lib/sandbox/controllers/kinds.ts';
import { eventually, settle, turnedClock, type TurnedClock } from './turned-clock.ts';

type KindRef<T extends KubeObject = KubeObject> = Pick<Resource<T>, 'group' | 'plural' | 'object'>;

const namespace = 'default';
const claims: KindRef = { group: '', plural: 'persistentvolumeclaims' };
const jobs: KindRef<Job> = { group: 'batch', plural: 'jobs' };
const readyMs = 1000;

let clock: TurnedClock;
let sandbox: Sandbox;

beforeEach(async () => {
  clock = turnedClock();
  sandbox = await startSandbox({ clock, podReadyMs: readyMs });
  await eventually(() => sandbox.api.get({ group: '', plural: 'serviceaccounts' }, 'default', namespace), 'furnished');
});

afterEach(() => sandbox.close());

describe('a Deployment', () => {
  it('has its pods ready after the set time, not before', async () => {
    await createDeployment({ replicas: 3 });

    await eventually(() => running() === 3, 'three pods run');
    await settle();
    expect(deployment().status).toMatchObject({ replicas: 3, unavailableReplicas: 3 });
    clock.turn(readyMs);
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
    const stop = sandbox.api.subscribe(pods, () => seen.push(list(pods).length));

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

    clock.turn(7000);
    await eventually(
      () => deployment().status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded'),
      'the deadline passed',
    );

    expect(deployment().status?.availableReplicas).toBeUndefined();
  });

  it('tells that its pods are refused', async () => {
    await createDeployment({ replicas: 1, spec: { serviceAccountName: 'nobody' } });

    const failure = await eventually(
      () => deployment().status?.conditions?.find(({ type }) => type === 'ReplicaFailure'),
      'the failure is told',
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

describe('a pod', () => {
  it.each([
    ['6s', 6000],
    ['250ms', 250],
  ])('is ready after %s when it says so', async (after, ms) => {
    await sandbox.api.create(pods, pod('slow', { 'sandbox.kube-reflex.dev/ready-after': after }));
    await eventually(() => running() === 1, 'the pod runs');
    await settle();

    clock.turn(ms - 1);
    await settle();
    expect(isReady('slow')).toBe(false);
    clock.turn(1);
    await eventually(() => isReady('slow'), 'the pod is ready');
  });

  it('is never ready when it says so', async () => {
    await sandbox.api.create(pods, pod('stuck', never));
    await eventually(() => running() === 1, 'the pod runs');

    clock.turn(3_600_000);
    await settle();

    expect(isReady('stuck')).toBe(false);
  });

  it('waits for a node that takes it', async () => {
    await sandbox.api.create(pods, {
      ...pod('picky'),
      ...{ spec: { ...pod('picky').spec, nodeSelector: { gpu: 'yes' } } },
    });
    await eventually(
      () => get(pods, 'picky').status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      'it cannot be scheduled',
    );

    const node: Node = { metadata: { name: 'gpu', labels: { gpu: 'yes' } } };
    await sandbox.api.create(nodes, node);
    await eventually(() => get(pods, 'picky').spec?.nodeName === 'gpu', 'it is placed');

    expect(get(pods, 'picky').metadata?.generation).toBe(1);
  });
});

describe('a StatefulSet', () => {
  it('starts its pods in order, each when the one before is ready', async () => {
    await createStatefulSet();

    await eventually(() => running() === 1, 'the first pod runs');
    await settle();
    expect(names(pods)).toEqual(['db-0']);
    clock.turn(readyMs);
    await eventually(() => running() === 2, 'the second pod runs');

    expect(names(pods)).toEqual(['db-0', 'db-1']);
    expect(names(claims)).toEqual(['data-db-0', 'data-db-1']);
    expect(get(pods, 'db-1').metadata?.labels).toMatchObject({
      'apps.kubernetes.io/pod-index': '1',
      'statefulset.kubernetes.io/pod-name': 'db-1',
    });
  });

  it('updates from the last pod down to its partition', async () => {
    await createStatefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } });
    await untilReady('db', 2);
    const set = get(statefulSets, 'db');
    const [before] = revisionsOfPods();

    await sandbox.api.update(statefulSets, withTemplateAnnotations(set, { v: '2' }));
    await eventually(() => {
      clock.turn(100);
      return get(statefulSets, 'db').status?.updatedReplicas === 1 && isReady('db-1');
    }, 'the last pod is new');
    await settle();

    const [first, second] = revisionsOfPods();
    expect(first).toBe(before);
    expect(second).not.toBe(before);
  });

  it('shrinks from the end', async () => {
    await createStatefulSet();
    await untilReady('db', 2);
    const set = get(statefulSets, 'db');

    await sandbox.api.update(statefulSets, { ...set, ...{ spec: { ...set.spec, replicas: 1 } } });
    await eventually(() => names(pods).length === 1, 'one pod is left');

    expect(names(pods)).toEqual(['db-0']);
    expect(names(claims)).toHaveLength(2);
  });
});

describe('a DaemonSet', () => {
  const set: DaemonSet = {
    metadata: { name: 'agent', namespace },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
  };

  it('has a pod on every node, also on new ones', async () => {
    await sandbox.api.create(daemonSets, set);
    await eventually(() => running() === list(nodes).length, 'a pod on each node');

    await sandbox.api.create(nodes, { metadata: { name: 'late' } });
    await eventually(() => list(pods).some(({ spec }) => spec?.nodeName === 'late'), 'a pod on the new node');
    await eventually(() => running() === list(nodes).length, 'it runs too');
    await settle();
    clock.turn(readyMs);
    await eventually(
      () => get(daemonSets, 'agent').status?.numberAvailable === list(nodes).length,
      'all are available',
    );

    expect(new Set(list(pods).map(({ spec }) => spec?.nodeName)).size).toBe(list(nodes).length);
  });

  it('replaces one pod at a time', async () => {
    await sandbox.api.create(daemonSets, set);
    const total = list(nodes).length;
    await eventually(() => running() === total, 'a pod on each node');
    await settle();
    clock.turn(readyMs);
    await eventually(() => get(daemonSets, 'agent').status?.numberAvailable === total, 'all available');
    const fewest: number[] = [];
    const stop = sandbox.api.subscribe(pods, () => fewest.push(list(pods).filter(podIsReady).length));

    const stored = get(daemonSets, 'agent');
    await sandbox.api.update(daemonSets, withTemplateAnnotations(stored, { v: '2' }));
    await eventually(() => {
      clock.turn(100);
      const { metadata, status } = get(daemonSets, 'agent');
      const isSeen = status?.observedGeneration === metadata?.generation;
      return isSeen && status?.updatedNumberScheduled === total && status.numberAvailable === total;
    }, 'all are new');
    stop();

    expect(Math.min(...fewest)).toBe(total - 1);
  });
});

describe('a Job', () => {
  it('runs its pods to completion, so many at a time', async () => {
    const job: Job = {
      metadata: { name: 'work', namespace },
      spec: {
        completions: 3,
        parallelism: 2,
        ttlSecondsAfterFinished: 60,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      },
    };
    await sandbox.api.create(jobs, job);

    await eventually(() => running() === 2, 'two pods run');
    await settle();
    expect(list(pods)).toHaveLength(2);
    clock.turn(readyMs);
    await eventually(() => list(pods).length === 3, 'the third pod starts');
    await settle();
    clock.turn(readyMs);
    await eventually(() => get(jobs, 'work').status?.succeeded === 3, 'all succeeded');

    expect(get(jobs, 'work').status?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
    await settle();
    clock.turn(61_000);
    await eventually(() => sandbox.api.get(jobs, 'work', namespace) === undefined, 'its time to live is over');
    await eventually(() => list(pods).length === 0, 'its pods are gone');
  });
});

const never = { 'sandbox.kube-reflex.dev/ready': 'never' };

function list<T extends KubeObject>(kind: KindRef<T>): readonly T[] {
  return sandbox.api.list(kind) as readonly T[];
}

function get<T extends KubeObject>(kind: KindRef<T>, name: string): T {
  const found = sandbox.api.get(kind, name, namespace);
  if (found === undefined) {
    throw new Error(`there is no ${kind.plural} "${name}"`);
  }
  return found as T;
}

function names(kind: KindRef): string[] {
  return sandbox.api.list(kind).map(({ metadata }) => metadata?.name ?? '');
}

function running(): number {
  return list(pods).filter(({ status }) => status?.phase === 'Running').length;
}

function podIsReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
}

function isReady(name: string): boolean {
  return podIsReady(get(pods, name));
}

function template(app: string): NonNullable<DaemonSet['spec']>['template'] {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

function pod(name: string, annotations: Record<string, string> = {}): Pod {
  return { metadata: { name, namespace, annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

interface DeploymentChoice {
  readonly replicas: number;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
  readonly [field: string]: unknown;
}

async function createDeployment({ replicas, annotations, spec, ...rest }: DeploymentChoice): Promise<void> {
  const made = template('web');
  await sandbox.api.create(deployments, {
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
  clock.turn(readyMs);
  await eventually(() => deployment().status?.availableReplicas === count, `${String(count)} pods are available`);
}

/** Turns the clock until the rollout is through. */
async function rolledOut(count: number): Promise<void> {
  await eventually(() => {
    clock.turn(50);
    const { metadata, status = {} } = deployment();
    return (
      status.observedGeneration === metadata?.generation &&
      [status.replicas, status.updatedReplicas, status.availableReplicas].every((each) => each === count)
    );
  }, 'the rollout is through');
}

async function changeTemplate(annotations: Record<string, string> | undefined): Promise<void> {
  await sandbox.api.update(deployments, withTemplateAnnotations(deployment(), annotations));
}

function withTemplateAnnotations<T extends Deployment | DaemonSet | StatefulSet>(
  workload: T,
  annotations: Record<string, string> | undefined,
): T {
  const { metadata: { annotations: _before, ...metadata } = {}, ...rest } = workload.spec?.template ?? {};
  const next = { ...rest, metadata: { ...metadata, ...(annotations && { annotations }) } };
  return { ...workload, spec: { ...workload.spec, template: next } };
}

async function scale(replicas: number): Promise<void> {
  const current = deployment();
  await sandbox.api.update(deployments, { ...current, ...{ spec: { ...current.spec, replicas } } });
}

function revisions(): [string, number][] {
  return list(replicaSets)
    .map(({ metadata, spec }): [string, number] => [
      metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? '',
      spec?.replicas ?? 0,
    ])
    .sort(([a], [b]) => Number(a) - Number(b));
}

async function createStatefulSet(changes: object = {}): Promise<void> {
  const set: StatefulSet = {
    metadata: { name: 'db', namespace },
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template('db'),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
      ...changes,
    },
  };
  await sandbox.api.create(statefulSets, set);
}

async function untilReady(name: string, count: number): Promise<void> {
  await eventually(
    () => {
      clock.turn(100);
      return get(statefulSets, name).status?.readyReplicas === count;
    },
    `${String(count)} pods are ready`,
  );
}

function revisionsOfPods(): (string | undefined)[] {
  return ['db-0', 'db-1'].map((name) => get(pods, name).metadata?.labels?.['controller-revision-hash']);
}
