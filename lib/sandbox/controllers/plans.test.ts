import { describe, expect, it } from '@jest/globals';
import type { DaemonSet, Pod, StatefulSet } from '../../kube/model/resource.ts';
import { daemonPlan, daemonPod, nodeOf } from './daemon-plan.ts';
import { disruptionStatus } from './disruption-status.ts';
import { isFinished, jobStatus, podsToStart } from './job-status.ts';
import type { Job, PodDisruptionBudget } from './kinds.ts';
import { readiness } from './pod-status.ts';
import { statefulPlan, type StatefulStep, usesCurrentRevision } from './stateful-plan.ts';
import { contentHash } from './template.ts';

const now = new Date('2026-01-01T00:00:00Z');

interface PodChoice {
  readonly ready?: boolean;
  readonly ending?: boolean;
  readonly phase?: string;
  readonly node?: string;
  readonly hash?: string;
}

function pod(
  name: string,
  { ready = true, ending = false, phase = 'Running', node = '', hash = 'new' }: PodChoice = {},
): Pod {
  return {
    metadata: {
      name,
      uid: name,
      labels: { 'controller-revision-hash': hash },
      ...(ending && { deletionTimestamp: now.toISOString() }),
    },
    spec: { containers: [], ...(node !== '' && { nodeName: node }) },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

describe('a StatefulSet', () => {
  function plan(pods: readonly Pod[], spec: object = {}): string[] {
    const set: StatefulSet = {
      metadata: { name: 'db' },
      spec: { replicas: 3, serviceName: 'db', selector: {}, template: {}, ...spec },
    };
    return statefulPlan({ set, pods, updateRevision: 'new' }).map(describeStep);
  }

  it.each<[string, readonly Pod[], object, string[]]>([
    ['starts with the first pod', [], {}, ['create 0']],
    ['starts at its own ordinal', [], { ordinals: { start: 5 } }, ['create 5']],
    ['starts all at once in parallel', [], { podManagementPolicy: 'Parallel' }, ['create 0', 'create 1', 'create 2']],
    ['waits for a pod to be ready', [pod('db-0', { ready: false })], {}, []],
    ['waits for a pod to go', [pod('db-0', { ending: true })], {}, []],
    ['goes on with the next', [pod('db-0')], {}, ['create 1']],
    ['replaces a pod that ended', [pod('db-0', { phase: 'Failed', ready: false })], {}, ['delete db-0']],
    ['takes the last first', ['db-0', 'db-1', 'db-2'].map((name) => pod(name)), { replicas: 1 }, ['delete db-2']],
    [
      'takes all at once in parallel',
      ['db-0', 'db-1', 'db-2'].map((name) => pod(name)),
      { replicas: 1, podManagementPolicy: 'Parallel' },
      ['delete db-2', 'delete db-1'],
    ],
    ['waits while the last goes', [pod('db-0'), pod('db-1'), pod('db-2', { ending: true })], { replicas: 1 }, []],
    [
      'updates the last first',
      [pod('db-0', { hash: 'old' }), pod('db-1', { hash: 'old' }), pod('db-2', { hash: 'old' })],
      {},
      ['delete db-2'],
    ],
    [
      'updates the next when the last is well',
      [pod('db-0'), pod('db-1', { hash: 'old' }), pod('db-2')],
      {},
      ['delete db-1'],
    ],
    [
      'leaves what is below the partition',
      [pod('db-0', { hash: 'old' }), pod('db-1', { hash: 'old' }), pod('db-2')],
      { updateStrategy: { rollingUpdate: { partition: 2 } } },
      [],
    ],
    [
      'updates nothing by itself with OnDelete',
      [pod('db-0', { hash: 'old' }), pod('db-1'), pod('db-2')],
      { updateStrategy: { type: 'OnDelete' } },
      [],
    ],
    ['has nothing to do when all is well', ['db-0', 'db-1', 'db-2'].map((name) => pod(name)), {}, []],
  ])('%s', (_name, pods, spec, steps) => {
    expect(plan(pods, spec)).toEqual(steps);
  });

  it('makes pods below the partition as they were', () => {
    const set: StatefulSet = {
      spec: { serviceName: '', selector: {}, template: {}, updateStrategy: { rollingUpdate: { partition: 2 } } },
    };

    expect([1, 2].map((ordinal) => usesCurrentRevision(set, ordinal))).toEqual([true, false]);
  });
});

function describeStep(step: StatefulStep): string {
  return step.do === 'create' ? `create ${step.ordinal}` : `delete ${step.pod.metadata?.name ?? ''}`;
}

describe('a DaemonSet', () => {
  const set: DaemonSet = {
    metadata: { name: 'agent' },
    spec: { selector: {}, template: { spec: { containers: [] } } },
  };
  const eligible = new Set(['a', 'b']);

  function plan(pods: readonly Pod[], spec: object = {}): { create: readonly string[]; remove: string[] } {
    const changed: DaemonSet = { ...set, spec: { selector: {}, template: {}, ...spec } };
    const { create, remove } = daemonPlan({ set: changed, pods, eligible, hash: 'new' });
    return { create, remove: remove.map(({ metadata }) => metadata?.name ?? '') };
  }

  it.each<[string, readonly Pod[], object, { create: string[]; remove: string[] }]>([
    ['has a pod on each node', [], {}, { create: ['a', 'b'], remove: [] }],
    ['leaves a node while its pod goes', [pod('x', { node: 'a', ending: true })], {}, { create: ['b'], remove: [] }],
    ['takes misplaced pods', [pod('x', { node: 'z' })], {}, { create: ['a', 'b'], remove: ['x'] }],
    ['takes ended pods', [pod('x', { node: 'a', phase: 'Failed' })], {}, { create: ['b'], remove: ['x'] }],
    [
      'takes doubles',
      [pod('x', { node: 'a' }), pod('y', { node: 'a' }), pod('z', { node: 'b' })],
      {},
      { create: [], remove: ['y'] },
    ],
    [
      'updates one pod at a time',
      [pod('x', { node: 'a', hash: 'old' }), pod('y', { node: 'b', hash: 'old' })],
      {},
      { create: [], remove: ['x'] },
    ],
    [
      'updates as many as may be missing',
      [pod('x', { node: 'a', hash: 'old' }), pod('y', { node: 'b', hash: 'old' })],
      { updateStrategy: { rollingUpdate: { maxUnavailable: '100%' } } },
      { create: [], remove: ['x', 'y'] },
    ],
    [
      'waits while another is not ready',
      [pod('x', { node: 'a', hash: 'old' }), pod('y', { node: 'b', ready: false })],
      {},
      { create: [], remove: [] },
    ],
    [
      'updates nothing by itself with OnDelete',
      [pod('x', { node: 'a', hash: 'old' }), pod('y', { node: 'b' })],
      { updateStrategy: { type: 'OnDelete' } },
      { create: [], remove: [] },
    ],
  ])('%s', (_name, pods, spec, expected) => {
    expect(plan(pods, spec)).toEqual(expected);
  });

  it('makes pods for one node', () => {
    expect(nodeOf(daemonPod(set, 'a', 'hash'))).toBe('a');
  });
});

describe('a Job', () => {
  function job(spec: object): Job {
    return { spec: { template: {}, ...spec } };
  }
  const done = pod('d', { phase: 'Succeeded', ready: false });
  const failed = pod('f', { phase: 'Failed', ready: false });

  it.each<[string, object, readonly Pod[], number]>([
    ['one pod by default', { completions: 1 }, [], 1],
    ['at most its parallelism at a time', { completions: 5, parallelism: 3 }, [pod('a')], 2],
    ['no more than are left', { completions: 2, parallelism: 3 }, [done], 1],
    ['none while suspended', { completions: 2, suspend: true }, [], 0],
    ['none when done', { completions: 1 }, [done], 0],
    ['another for one that failed', { completions: 1 }, [failed], 1],
    ['none after too many failures', { completions: 1, backoffLimit: 0 }, [failed], 0],
    ['none once one has succeeded without a number', { parallelism: 2 }, [done], 0],
  ])('starts %s', (_name, spec, pods, count) => {
    expect(podsToStart(job(spec), pods)).toBe(count);
  });

  it.each<[string, object, readonly Pod[], string[]]>([
    ['success', { completions: 1 }, [done], ['SuccessCriteriaMet', 'Complete']],
    ['failure', { completions: 1, backoffLimit: 0 }, [failed], ['FailureTarget', 'Failed']],
    ['suspension', { completions: 1, suspend: true }, [], ['Suspended']],
  ])('reports its %s', (_name, spec, pods, types) => {
    const status = jobStatus(job(spec), pods, now);

    expect(status.conditions?.map(({ type }) => type)).toEqual(types);
    expect(isFinished({ ...job(spec), status })).toBe(types.length === 2);
  });
});

describe('a disruption budget', () => {
  function allowed(
    spec: object,
    pods: readonly Pod[],
    scale: number,
    disruptedPods: Record<string, string> = {},
  ): object {
    const budget: PodDisruptionBudget = {
      metadata: { name: 'b', generation: 3 },
      spec,
      status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0, disruptedPods },
    };
    const {
      conditions: _conditions,
      observedGeneration: _generation,
      ...numbers
    } = disruptionStatus(budget, { pods, scale, now });
    return numbers;
  }
  const three = ['a', 'b', 'c'].map((name) => pod(name));

  it.each<[string, object, readonly Pod[], number, number[]]>([
    ['a least number', { minAvailable: 2 }, three, 3, [3, 3, 2, 1]],
    ['a least share of what is wanted', { minAvailable: '50%' }, three, 4, [4, 3, 2, 1]],
    ['a greatest number', { maxUnavailable: 1 }, three, 4, [4, 3, 3, 0]],
    ['a greatest share, rounded up', { maxUnavailable: '30%' }, three, 4, [4, 3, 2, 1]],
    ['pods that are not ready', { minAvailable: 1 }, [pod('a'), pod('b', { ready: false })], 2, [2, 1, 1, 0]],
    ['pods on their way out', { minAvailable: 1 }, [pod('a'), pod('b', { ending: true })], 2, [2, 1, 1, 0]],
    ['no pods', { minAvailable: 0 }, [], 0, [0, 0, 0, 0]],
  ])('counts by %s', (_name, spec, pods, scale, [expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed]) => {
    expect(allowed(spec, pods, scale)).toEqual({ expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed });
  });

  it('counts an evicted pod as gone for two minutes', () => {
    const fresh = { a: new Date(now.getTime() - 60_000).toISOString() };
    const stale = { a: new Date(now.getTime() - 180_000).toISOString() };

    expect(allowed({ minAvailable: 1 }, three, 3, fresh)).toMatchObject({ currentHealthy: 2, disruptedPods: fresh });
    expect(allowed({ minAvailable: 1 }, three, 3, stale)).toMatchObject({ currentHealthy: 3 });
  });
});

describe('readiness', () => {
  it.each([
    [{}, { isNever: false, afterMs: 7 }],
    [{ 'sandbox.kube-reflex.dev/ready': 'never' }, { isNever: true, afterMs: 7 }],
    [{ 'sandbox.kube-reflex.dev/ready-after': '6s' }, { isNever: false, afterMs: 6000 }],
    [{ 'sandbox.kube-reflex.dev/ready-after': '1.5m' }, { isNever: false, afterMs: 90_000 }],
    [{ 'sandbox.kube-reflex.dev/ready-after': 'soon' }, { isNever: false, afterMs: 7 }],
  ])('by %j is %j', (annotations, expected) => {
    expect(readiness({ metadata: { annotations } }, 7)).toEqual(expected);
  });
});

describe('the hash of a template', () => {
  it('depends on its content alone', () => {
    expect(contentHash({ a: 1, b: [1, 2] })).toBe(contentHash({ b: [1, 2], a: 1 }));
    expect(contentHash({ a: 1 })).not.toBe(contentHash({ a: 2 }));
    expect(contentHash({ a: 1 }, 1)).not.toBe(contentHash({ a: 1 }));
    expect(contentHash({ a: 1 })).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/);
  });
});
