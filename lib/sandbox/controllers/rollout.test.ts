import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Deployment, ReplicaSet } from '../../kube/model/resource.ts';
import {
  availableOf,
  isScaling,
  limitsOf,
  recreateStep,
  replicasOf,
  rollingStep,
  scaleStep,
  share,
} from './rollout.ts';

function deployment(replicas: number, rollingUpdate: object = {}, type = 'RollingUpdate'): Deployment {
  return { spec: { replicas, selector: {}, template: {}, strategy: { type, rollingUpdate } } };
}

function replicaSet(name: string, replicas: number, available = replicas, annotations = {}): ReplicaSet {
  return {
    metadata: { name, annotations },
    spec: { replicas, selector: {} },
    status: { replicas, availableReplicas: available },
  };
}

describe('limits', () => {
  it.each([
    [10, {}, { maxSurge: 3, maxUnavailable: 2 }],
    [1, {}, { maxSurge: 1, maxUnavailable: 0 }],
    [4, { maxSurge: 0, maxUnavailable: 0 }, { maxSurge: 0, maxUnavailable: 1 }],
    [4, { maxSurge: 2, maxUnavailable: '50%' }, { maxSurge: 2, maxUnavailable: 2 }],
    [3, { maxSurge: 1, maxUnavailable: 9 }, { maxSurge: 1, maxUnavailable: 3 }],
  ])('of %i replicas with %j are %j', (replicas, rollingUpdate, limits) => {
    expect(limitsOf(deployment(replicas, rollingUpdate))).toEqual(limits);
  });

  it('are none for Recreate', () => {
    expect(limitsOf(deployment(4, {}, 'Recreate'))).toEqual({ maxSurge: 0, maxUnavailable: 0 });
  });

  it('read numbers and percentages', () => {
    expect([share(3, 10, Math.ceil), share('3', 10, Math.ceil), share('25%', 10, Math.ceil)]).toEqual([3, 3, 3]);
  });
});

describe('a rolling update', () => {
  const anyRollout = fc
    .record({ replicas: fc.integer({ min: 0, max: 20 }), surge: fc.nat(5), unavailable: fc.nat(5), old: fc.nat(20) })
    .map(({ replicas, surge, unavailable, old }) => ({
      deployment: deployment(replicas, { maxSurge: surge, maxUnavailable: unavailable }),
      fresh: replicaSet('new', 0),
      old: [replicaSet('old', Math.min(old, replicas))],
    }));

  it('ends with all pods new, within its limits at every step', () => {
    fc.assert(
      fc.property(anyRollout, ({ deployment: wanted, ...start }) => {
        const total = wanted.spec?.replicas ?? 0;
        const { maxSurge, maxUnavailable } = limitsOf(wanted);
        const floor = Math.min(
          total - maxUnavailable,
          start.old.reduce((sum, each) => sum + replicasOf(each), 0),
        );
        let { fresh, old } = start;
        for (let step = 0; step < 200; step += 1) {
          const targets = rollingStep({ deployment: wanted, fresh, old });
          if (targets.size === 0) {
            break;
          }
          fresh = settled(fresh, targets);
          old = old.map((each) => settled(each, targets));
          const all = [fresh, ...old];
          expect(all.reduce((sum, each) => sum + replicasOf(each), 0)).toBeLessThanOrEqual(total + maxSurge);
          expect(all.reduce((sum, each) => sum + availableOf(each), 0)).toBeGreaterThanOrEqual(floor);
        }
        expect([replicasOf(fresh), ...old.map(replicasOf)]).toEqual([total, 0]);
      }),
    );
  });

  it('waits for new pods before it takes old ones', () => {
    const rollout = { deployment: deployment(3), fresh: replicaSet('new', 1, 0), old: [replicaSet('old', 3)] };

    expect(rollingStep(rollout)).toEqual(new Map());
  });

  it('takes old pods that are not available first', () => {
    const rollout = { deployment: deployment(3), fresh: replicaSet('new', 1, 0), old: [replicaSet('old', 3, 2)] };

    expect(rollingStep({ ...rollout, fresh: replicaSet('new', 1, 1) })).toEqual(new Map([['old', 2]]));
  });
});

describe('Recreate', () => {
  const wanted = deployment(3, {}, 'Recreate');

  it('takes the old pods away, then starts new ones when all are gone', () => {
    const fresh = replicaSet('new', 0);

    expect(recreateStep({ deployment: wanted, old: [replicaSet('old', 3)] }, false)).toEqual(new Map([['old', 0]]));
    expect(recreateStep({ deployment: wanted, fresh, old: [replicaSet('old', 0)] }, false)).toEqual(new Map());
    expect(recreateStep({ deployment: wanted, fresh, old: [replicaSet('old', 0)] }, true)).toEqual(
      new Map([['new', 3]]),
    );
  });
});

describe('scaling', () => {
  const scale = { 'deployment.kubernetes.io/desired-replicas': '4', 'deployment.kubernetes.io/max-replicas': '5' };

  it('is a difference from what the ReplicaSets record', () => {
    const fresh = replicaSet('new', 4, 4, scale);

    expect(isScaling({ deployment: deployment(4), fresh, old: [] })).toBe(false);
    expect(isScaling({ deployment: deployment(6), fresh, old: [] })).toBe(true);
  });

  it('gives a single ReplicaSet everything', () => {
    const fresh = replicaSet('new', 4, 4, scale);

    expect(scaleStep({ deployment: deployment(6), fresh, old: [] })).toEqual(new Map([['new', 6]]));
  });

  it('spreads over several in proportion', () => {
    const rollout = {
      deployment: deployment(8, { maxSurge: 2, maxUnavailable: 0 }),
      fresh: replicaSet('new', 2, 0, scale),
      old: [replicaSet('old', 3, 3, scale)],
    };

    expect(scaleStep(rollout)).toEqual(
      new Map([
        ['new', 4],
        ['old', 6],
      ]),
    );
  });

  it('has nothing to do without ReplicaSets', () => {
    expect(scaleStep({ deployment: deployment(2), old: [] })).toEqual(new Map());
  });
});

/** The ReplicaSet after its pods have come up or gone. */
function settled(each: ReplicaSet, targets: ReadonlyMap<string, number>): ReplicaSet {
  return replicaSet(each.metadata?.name ?? '', targets.get(each.metadata?.name ?? '') ?? replicasOf(each));
}
