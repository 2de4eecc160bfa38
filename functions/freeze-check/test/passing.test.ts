import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { changeFreezes, type Action } from '../policy.ts';
import {
  controllerRevisions,
  deployments,
  events,
  namespaces,
  replicaSets,
  statefulSets,
  type ReplicaSet,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { AdmissionRequest } from '../../../lib/kube/model/review.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { freeze, namespaceNamed } from './objects.ts';
import { deletion, deployment, openGate, rollout, scale, update, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

const noon = '2026-12-25T12:00:00Z';
const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
const deny: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];
const bypass = 'freeze-check.kube-reflex.dev/bypass-reason';
const outage = { [bypass]: 'outage 42' };
const oncall = { username: 'sre@x', groups: ['oncall', 'system:authenticated'] };

let world: World;
let gate: Gate;

beforeAll(async () => {
  world = await openWorld({ at: noon, rbac: true });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(deployments, deployment({ annotations: outage }));
  await world.grant('oncall', [
    { apiGroups: ['freeze-operator.io'], resources: ['changefreezes'], resourceNames: ['holiday'], verbs: ['bypass'] },
  ]);
  gate = await openGate(world);
});
afterAll(async () => {
  await gate.close();
  await world.close();
});
afterEach(async () => {
  world.sandbox.faults.clear();
  for (const { metadata } of world.sandbox.api.list(changeFreezes)) {
    await world.remove(changeFreezes, metadata?.name ?? '');
  }
});

async function frozen(name: string, allowRollback = false): Promise<void> {
  const target = { kinds: ['Deployment', 'StatefulSet'] as const };
  await world.create(changeFreezes, freeze(name, christmas, { target, rules: { deny, allowRollback } }));
}

/** Whether each passes. */
async function passing(requests: readonly Partial<AdmissionRequest>[], asked = gate): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  for (const request of requests) {
    answers.push((await asked.ask(request)).allowed);
  }
  return answers;
}

/** Asks a replica of other settings. */
async function passingWith(
  environment: Record<string, string>,
  requests: readonly Partial<AdmissionRequest>[],
): Promise<{ readonly passed: readonly boolean[]; readonly metrics: string }> {
  const other = await openGate(world, { name: 'other', environment });
  try {
    return { passed: await passing(requests, other), metrics: await other.metrics() };
  } finally {
    await other.close();
  }
}

describe('break-glass', () => {
  const change = { ...update({ image: 'web:2', annotations: outage }), userInfo: oncall };

  it('lets who may bypass a policy pass it by giving a reason, and everybody hears of it', async () => {
    await frozen('holiday');

    const entitled = await gate.ask(change);

    expect(entitled).toMatchObject({
      allowed: true,
      auditAnnotations: { decision: 'break-glass', policy: 'ChangeFreeze/holiday', reason: 'outage 42' },
    });
    expect(await passing([{ ...rollout, userInfo: oncall }])).toEqual([false]);
    expect(await gate.metrics()).toContain('kube_reflex_freeze_check_bypass_total{reason="break-glass"} 1');
    await until(
      () =>
        world.sandbox.api
          .list(events)
          .some((event) => (event as { note?: string }).note === 'sre@x passed ChangeFreeze/holiday: outage 42'),
      'the Event is written',
    );
  });

  it('is for nobody else, and for no other policy', async () => {
    await frozen('holiday');
    const dev = { username: 'dev@x', groups: ['system:authenticated'] };

    const withoutRight = await passing([{ ...change, userInfo: dev }]);
    await frozen('year-end');

    expect(withoutRight).toEqual([false]);
    expect(await passing([change])).toEqual([false]);
  });

  it('is for nobody while it can not be found out who may', async () => {
    await frozen('holiday');
    world.sandbox.faults.add({ resource: 'subjectaccessreviews', effect: { do: 'refuse', status: 500 } });

    expect(await passing([change])).toEqual([false]);
  });

  it('asks for a reason each time: one that lies there from an earlier update is none', async () => {
    await frozen('holiday');
    const later = { image: 'web:3', annotations: outage };
    const renewed = { image: 'web:3', annotations: { [bypass]: 'outage 43' } };

    const updates = [update(later, { image: 'web:2', annotations: outage }), update(renewed, later)];

    expect(await passing(updates.map((request) => ({ ...request, userInfo: oncall })))).toEqual([false, true]);
  });

  it('goes by the reason on the workload where a request can bring none: a delete, a scale', async () => {
    await frozen('holiday');
    const requests = [deletion({ annotations: outage }), deletion(), scale];

    expect(await passing(requests.map((request) => ({ ...request, userInfo: oncall })))).toEqual([true, false, true]);
  });

  it('is no way for a GitOps controller: somebody committed the reason', async () => {
    await frozen('holiday');
    const groups = ['oncall', 'system:serviceaccounts:argocd'];

    expect(await passing([{ ...change, userInfo: { username: 'argocd', groups } }])).toEqual([false]);
  });

  it('can be for everybody who gives a reason, or for nobody at all', async () => {
    await frozen('holiday');
    const byDev = { ...change, userInfo: { username: 'dev@x', groups: [] } };

    expect((await passingWith({ BREAK_GLASS: 'annotation' }, [byDev, rollout])).passed).toEqual([true, false]);
    expect((await passingWith({ BREAK_GLASS: 'off' }, [change])).passed).toEqual([false]);
  });
});

describe('those who are exempt', () => {
  it.each([
    ['EXEMPT_USERS', 'robot,sre@x', 'exempt-user'],
    ['EXEMPT_GROUPS', 'oncall', 'exempt-group'],
  ])('by %s pass, are counted, and nobody else passes', async (setting, value, reason) => {
    await frozen('holiday');
    const requests = [{ ...rollout, userInfo: oncall }, { ...deletion(), userInfo: oncall }, rollout];

    const { passed, metrics } = await passingWith({ [setting]: value }, requests);

    expect(passed).toEqual([true, true, false]);
    expect(metrics).toContain(`kube_reflex_freeze_check_bypass_total{reason="${reason}"} 2`);
  });
});

describe('the rollback lane', () => {
  it('lets a Deployment go back to the template of an earlier ReplicaSet, and to nothing else', async () => {
    await frozen('holiday', true);
    const { spec } = deployment();
    const earlier: ReplicaSet = {
      metadata: ownedBy('web', 'd-1', 'Deployment'),
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web', 'pod-template-hash': 'abc' } },
          ...(spec?.template.spec === undefined ? {} : { spec: spec.template.spec }),
        },
      },
    };
    const { spec: stored } = await world.create(replicaSets, earlier);

    /** With the template that the API server made of it, as in a Deployment. */
    function goingBack(others: object, labels = { app: 'web' }): Partial<AdmissionRequest> {
      const { object, oldObject } = update({ labels }, { image: 'web:2' });
      const template = { ...stored?.template, metadata: { labels: { app: 'web' } } };
      const after = { ...object, spec: { ...spec, template, ...others } } as KubeObject;
      return { operation: 'UPDATE', object: after, oldObject: oldObject ?? null };
    }

    expect(
      await passing([
        goingBack({}),
        update({ image: 'web:3' }, { image: 'web:2' }),
        goingBack({ minReadySeconds: 30 }),
        goingBack({}, { app: 'web', team: 'other' } as { app: string }),
      ]),
    ).toEqual([true, false, false, false]);
    expect(await gate.ask(goingBack({ replicas: 7 }))).toMatchObject({
      allowed: false,
      auditAnnotations: { action: 'SCALE' },
    });
  });

  it('lets a StatefulSet go back to the template of an earlier ControllerRevision', async () => {
    await frozen('holiday', true);
    const selector = { matchLabels: { app: 'db' } };
    function statefulSet(image: string): KubeObject {
      const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'db', image }] } };
      const metadata = { name: 'db', namespace: 'prod', uid: 's-1', labels: { app: 'db' } };
      return { metadata, spec: { serviceName: 'db', selector, template } } as KubeObject;
    }
    const { template } = (statefulSet('db:1') as { spec: { template: object } }).spec;
    await world.create(controllerRevisions, {
      metadata: { ...ownedBy('db', 's-1', 'StatefulSet'), labels: { app: 'db' } },
      revision: 1,
      data: { spec: { template: { $patch: 'replace', ...template } } },
    });
    function rollingTo(image: string, uid = 's-1'): Partial<AdmissionRequest> {
      const [object, oldObject] = [statefulSet(image), statefulSet('db:2')].map((each) => ({
        ...each,
        metadata: { ...each.metadata, uid },
      }));
      const kind = { group: 'apps', version: 'v1', kind: statefulSets.kind };
      return { kind, name: 'db', operation: 'UPDATE', object: object ?? null, oldObject: oldObject ?? null };
    }

    const requests = [rollingTo('db:1'), rollingTo('db:3'), rollingTo('db:1', 'another')];

    expect(await passing(requests)).toEqual([true, false, false]);
    expect((await passingWith({ ROLLBACK_LANE: 'false' }, requests)).passed).toEqual([false, false, false]);
  });

  it('is closed where a policy does not open it', async () => {
    await frozen('holiday');

    expect(await passing([update({ image: 'web:1' }, { image: 'web:2' })])).toEqual([false]);
  });
});

function ownedBy(name: string, uid: string, kind: string): NonNullable<KubeObject['metadata']> {
  return {
    name: `${name}-1`,
    namespace: 'prod',
    labels: { app: name },
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
  };
}
