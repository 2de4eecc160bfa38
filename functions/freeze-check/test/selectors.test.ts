import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { useProd } from './prod.ts';
import { creation, deletion, update } from './reviews.ts';

const prod = useProd();

describe('selectors', () => {
  it('FC-28 without a namespaceSelector a policy is about kube-system too', async () => {
    await prod.frozen(['CREATE'], { target: { kinds: ['Deployment'] } });

    expect(await prod.gate.ask({ ...creation(), namespace: 'kube-system' })).toMatchObject({ allowed: false });
  });

  it('FC-29 NotIn matches what has no such label', async () => {
    const matchExpressions = [{ key: 'env', operator: 'NotIn', values: ['dev'] }];
    await prod.frozen(['CREATE'], { target: { kinds: ['Deployment'], namespaceSelector: { matchExpressions } } });

    expect(await prod.gate.ask({ ...creation(), namespace: 'kube-system' })).toMatchObject({ allowed: false });
  });

  it('FC-30 taking a label away does not take a workload out of a freeze', async () => {
    await prod.frozen(['ROLL_OUT'], {
      target: { kinds: ['Deployment'], objectSelector: { matchLabels: { app: 'pay' } } },
    });

    expect(await prod.gate.ask(update({ labels: {} }, { labels: { app: 'pay' } }))).toMatchObject({ allowed: false });
    expect(await prod.gate.ask(update({ labels: {} }, { labels: { app: 'web' } }))).toMatchObject({ allowed: true });
  });

  it.each(['DaemonSet', 'StatefulSet'] as const)('FC-31 a %s is covered when listed, and only then', async (name) => {
    const kind = { group: 'apps', version: 'v1', kind: name };
    await prod.frozen(['CREATE', 'DELETE'], { target: { kinds: [name] } });

    const listed = [await prod.gate.ask({ ...creation(), kind }), await prod.gate.ask({ ...deletion(), kind })];
    const unlisted = [await prod.gate.ask(creation()), await prod.gate.ask(deletion())];

    expect([...listed, ...unlisted].map(({ allowed }) => allowed)).toEqual([false, false, true, true]);
  });

  it('FC-32 a new schedule of a CronJob is a rollout', async () => {
    await prod.frozen(['ROLL_OUT'], { target: { kinds: ['CronJob'] } });
    function cronJob(schedule: string): KubeObject {
      return { metadata: { name: 'report' }, spec: { schedule } } as KubeObject;
    }

    expect(
      await prod.gate.ask({
        kind: { group: 'batch', version: 'v1', kind: 'CronJob' },
        operation: 'UPDATE',
        object: cronJob('0 1 * * *'),
        oldObject: cronJob('0 2 * * *'),
      }),
    ).toMatchObject({ allowed: false });
  });
});
