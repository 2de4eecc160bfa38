import { describe, expect, it } from '@jest/globals';
import {
  type DaemonSet,
  daemonSets,
  type Node,
  nodes,
  type Pod,
  pods,
  type StatefulSet,
  statefulSets,
} from '../../kube/model/resource.ts';
import type { Job } from '../controllers/kinds.ts';
import { eventually, settle } from './turned-clock.ts';
import {
  isPodReady,
  namespace,
  never,
  readyMs,
  template,
  useWorkloads,
  withTemplateAnnotations,
  type KindRef,
} from './workloads.ts';

const claims: KindRef = { group: '', plural: 'persistentvolumeclaims' };
const jobs: KindRef<Job> = { group: 'batch', plural: 'jobs' };

const { api, turn, list, get, names, running, isReady } = useWorkloads();

describe('a pod', () => {
  it.each([
    ['6s', 6000],
    ['250ms', 250],
  ])('is ready after %s when it says so', async (after, ms) => {
    await api().create(pods, pod('slow', { 'sandbox.kube-reflex.dev/ready-after': after }));
    await eventually(() => running() === 1, 'the pod runs');
    await settle();

    turn(ms - 1);
    await settle();
    expect(isReady('slow')).toBe(false);
    turn(1);
    await eventually(() => isReady('slow'), 'the pod is ready');
  });

  it('is never ready when it says so', async () => {
    await api().create(pods, pod('stuck', never));
    await eventually(() => running() === 1, 'the pod runs');

    turn(3_600_000);
    await settle();

    expect(isReady('stuck')).toBe(false);
  });

  it('waits for a node that takes it', async () => {
    await api().create(pods, {
      ...pod('picky'),
      ...{ spec: { ...pod('picky').spec, nodeSelector: { gpu: 'yes' } } },
    });
    await eventually(
      () => get(pods, 'picky').status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      'it cannot be scheduled',
    );

    const node: Node = { metadata: { name: 'gpu', labels: { gpu: 'yes' } } };
    await api().create(nodes, node);
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
    turn(readyMs);
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

    await api().update(statefulSets, withTemplateAnnotations(set, { v: '2' }));
    await eventually(() => {
      turn(100);
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

    await api().update(statefulSets, { ...set, ...{ spec: { ...set.spec, replicas: 1 } } });
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
    await api().create(daemonSets, set);
    await eventually(() => running() === list(nodes).length, 'a pod on each node');

    await api().create(nodes, { metadata: { name: 'late' } });
    await eventually(() => list(pods).some(({ spec }) => spec?.nodeName === 'late'), 'a pod on the new node');
    await eventually(() => running() === list(nodes).length, 'it runs too');
    await settle();
    turn(readyMs);
    await eventually(
      () => get(daemonSets, 'agent').status?.numberAvailable === list(nodes).length,
      'all are available',
    );

    expect(new Set(list(pods).map(({ spec }) => spec?.nodeName)).size).toBe(list(nodes).length);
  });

  it('replaces one pod at a time', async () => {
    await api().create(daemonSets, set);
    const total = list(nodes).length;
    await eventually(() => running() === total, 'a pod on each node');
    await settle();
    turn(readyMs);
    await eventually(() => get(daemonSets, 'agent').status?.numberAvailable === total, 'all available');
    const fewest: number[] = [];
    const stop = api().subscribe(pods, () => fewest.push(list(pods).filter(isPodReady).length));

    const stored = get(daemonSets, 'agent');
    await api().update(daemonSets, withTemplateAnnotations(stored, { v: '2' }));
    await eventually(() => {
      turn(100);
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
    await api().create(jobs, job);

    await eventually(() => running() === 2, 'two pods run');
    await settle();
    expect(list(pods)).toHaveLength(2);
    turn(readyMs);
    await eventually(() => list(pods).length === 3, 'the third pod starts');
    await settle();
    turn(readyMs);
    await eventually(() => get(jobs, 'work').status?.succeeded === 3, 'all succeeded');

    expect(get(jobs, 'work').status?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
    await settle();
    turn(61_000);
    await eventually(() => api().get(jobs, 'work', namespace) === undefined, 'its time to live is over');
    await eventually(() => list(pods).length === 0, 'its pods are gone');
  });
});

function pod(name: string, annotations: Record<string, string> = {}): Pod {
  return { metadata: { name, namespace, annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } };
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
  await api().create(statefulSets, set);
}

async function untilReady(name: string, count: number): Promise<void> {
  await eventually(
    () => {
      turn(100);
      return get(statefulSets, name).status?.readyReplicas === count;
    },
    `${String(count)} pods are ready`,
  );
}

function revisionsOfPods(): (string | undefined)[] {
  return ['db-0', 'db-1'].map((name) => get(pods, name).metadata?.labels?.['controller-revision-hash']);
}
