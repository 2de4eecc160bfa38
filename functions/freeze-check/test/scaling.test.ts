import { describe, expect, it } from '@jest/globals';
import { changeFreezes, maintenanceWindows } from '../policy.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { AdmissionRequest } from '../../../lib/kube/model/review.ts';
import { nightly } from './objects.ts';
import { everything, noon, useProd } from './prod.ts';
import { creation, deletion, deployment, rollout, scale } from './reviews.ts';

const prod = useProd();

describe('scaling and controllers', () => {
  const autoscaler = { username: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler', groups: [] };

  it.each([
    [['SCALE'], false],
    [['ROLL_OUT'], true],
  ] as const)('FC-17 a scale under a freeze of %j passes: %s', async (deny, allowed) => {
    await prod.frozen(deny);

    expect(await prod.gate.ask(scale)).toMatchObject({ allowed });
  });

  it.each([
    ['pay', true],
    ['web', false],
  ])(
    'FC-18 a scale is judged by the labels of the workload: a freeze of app=%s lets it pass: %s',
    async (app, allowed) => {
      await prod.frozen(['SCALE'], { target: { kinds: ['Deployment'], objectSelector: { matchLabels: { app } } } });

      expect(await prod.gate.ask(scale)).toMatchObject({ allowed });
    },
  );

  it('FC-19 a scale of what is gone is refused with 500', async () => {
    expect(await prod.gate.ask({ ...scale, name: 'gone' })).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it.each([
    ['FC-20', 'the HorizontalPodAutoscaler', autoscaler.username],
    ['FC-21', 'Knative’s autoscaler', 'system:serviceaccount:knative-serving:controller'],
  ])('%s %s is refused like everybody else, unless autoscalers are exempt', async (_case, _who, username) => {
    await prod.frozen(['SCALE', 'CREATE']);
    const userInfo = { username, groups: ['system:serviceaccounts'] };

    const byDefault = await prod.gate.ask({ ...scale, userInfo });
    const exempt = await prod.askWith({ EXEMPT_AUTOSCALERS: 'true' }, { ...scale, userInfo });
    const creating = await prod.askWith({ EXEMPT_AUTOSCALERS: 'true' }, { ...creation(), userInfo });

    expect([byDefault.allowed, exempt.allowed, creating.allowed]).toEqual([false, true, false]);
    expect(exempt.metrics).toContain('kube_reflex_freeze_check_bypass_total{reason="autoscaler"} 1');
  });

  it('FC-23 the garbage collector may take its finalizer away', async () => {
    await prod.frozen(['ROLL_OUT']);

    expect(await prod.gate.ask({ operation: 'UPDATE', ...finalized() })).toMatchObject({ allowed: true });
  });

  it('FC-24 but not change an image by the way', async () => {
    await prod.frozen(['ROLL_OUT']);
    const { object, oldObject } = finalized('web:2');

    expect(await prod.gate.ask({ operation: 'UPDATE', object, oldObject })).toMatchObject({ allowed: false });
  });

  it('FC-25 an item of a delete-collection, which has no name of its own, is refused', async () => {
    await prod.frozen(['DELETE']);

    expect(await prod.gate.ask({ ...deletion(), name: '' })).toMatchObject({ allowed: false });
  });

  it('FC-26 the function itself may write CronJobs, and no other account of its namespace', async () => {
    await prod.frozen(everything, { target: { kinds: ['CronJob'] } });
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-reflex'];
    function writtenBy(account: string): Partial<AdmissionRequest> {
      return {
        kind: { group: 'batch', version: 'v1', kind: 'CronJob' },
        operation: 'CREATE',
        object: { metadata: { name: 'report' } },
        userInfo: { username: `system:serviceaccount:kube-reflex:${account}`, groups },
      };
    }
    const settings = { SELF_USERNAME: 'system:serviceaccount:kube-reflex:other' };

    expect(await prod.gate.ask(writtenBy('freeze-check'))).toMatchObject({ allowed: true });
    expect(await prod.gate.ask(writtenBy('istio-rollout'))).toMatchObject({ allowed: false });
    expect(await prod.askWith(settings, writtenBy('other'))).toMatchObject({ allowed: true });
    expect(await prod.askWith(settings, writtenBy('freeze-check'))).toMatchObject({ allowed: false });
  });

  it('FC-27 GitOps tools get one short line', async () => {
    const userInfo = { username: 'argo', groups: ['system:serviceaccounts:argocd'] };
    await prod.frozen(['ROLL_OUT']);
    const byFreeze = await prod.gate.ask({ ...rollout, userInfo });
    await prod.world.remove(changeFreezes, 'holiday');
    await prod.world.create(maintenanceWindows, nightly('nights'));
    const byWindow = await prod.gate.ask({ ...rollout, userInfo });

    expect(byFreeze.status?.message).toBe('[freeze-operator] sync blocked by holiday until 2026-12-27T00:00:00Z');
    expect(byWindow.status?.message).toBe('[freeze-operator] sync blocked by nights');
  });
});

/** A Deployment under foreground deletion, before and after the garbage collector lets it go. */
function finalized(image = 'web:1'): { object: KubeObject; oldObject: KubeObject } {
  const leaving = deployment({ image });
  const metadata = { ...leaving.metadata, deletionTimestamp: noon };
  const before = deployment();
  return {
    object: { ...leaving, metadata: { ...metadata, resourceVersion: '9', generation: 3 } },
    oldObject: {
      ...before,
      metadata: { ...before.metadata, deletionTimestamp: noon, finalizers: ['foregroundDeletion'] },
    },
  };
}
