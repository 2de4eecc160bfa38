import { describe, expect, it } from '@jest/globals';
import { questionOf } from './template.ts';
import { workloadOf } from './workload.ts';

describe('the pod that an Argo Rollout would create', () => {
  it('has the label of its own controller, and ports as the API server completes them', () => {
    const workload = workloadOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web', uid: 'u-1' },
      spec: { template: { spec: { containers: [{ name: 'web', ports: [{ containerPort: 80 }] }] } } },
    });
    const link = { kind: 'ReplicaSet', name: 'web-1', uid: 'r-1', hash: 'abc', createdAt: 0 } as const;

    const question = workload && questionOf({ workload, current: [], older: [], link });

    expect(question?.labels).toEqual({ 'rollouts-pod-template-hash': 'abc' });
    expect(question?.spec.containers).toEqual([{ name: 'web', ports: [{ containerPort: 80, protocol: 'TCP' }] }]);
  });
});
