import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  changeFreezes,
  freezeExceptions,
  maintenanceWindows,
  type Action,
  type ChangeFreezeSpec,
} from '../../functions/freeze-check/policy.ts';
import freezeCheck from '../../functions/freeze-check/index.ts';
import { parseConfig } from '../../lib/function/config.ts';
import type { Webhook } from '../../lib/function/define.ts';
import { deployments, namespaces } from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import type { AdmissionRequest } from '../../lib/review/review.ts';
import { freeze, namespaceNamed, nightly } from './objects.ts';
import { creation, deletion, deployment, openGate, rollout, scale, update, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

const noon = '2026-12-25T12:00:00Z';
const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
const everything: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];

let world: World;
let gate: Gate;

beforeAll(async () => {
  world = await openWorld({ at: noon });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(namespaces, namespaceNamed('staging', { env: 'staging' }));
  await world.create(namespaces, namespaceNamed('kube-system', {})).catch(() => undefined);
  await world.create(deployments, deployment());
  gate = await openGate(world);
});
afterAll(async () => {
  await gate.close();
  await world.close();
});
afterEach(async () => {
  world.turnTo(noon);
  for (const kind of [changeFreezes, maintenanceWindows, freezeExceptions]) {
    for (const { metadata } of world.sandbox.api.list(kind)) {
      await world.remove(kind, metadata?.name ?? '');
    }
  }
});

function frozen(deny: readonly Action[], spec: Partial<ChangeFreezeSpec> = {}, name = 'holiday'): Promise<unknown> {
  return world.create(changeFreezes, freeze(name, christmas, { rules: { deny }, ...spec }));
}

/** Asks a replica of other settings. */
async function askWith(environment: Record<string, string>, request: Partial<AdmissionRequest>): Promise<Answer> {
  const other = await openGate(world, { name: 'other', environment });
  try {
    const { allowed } = await other.ask(request);
    return { allowed, metrics: await other.metrics() };
  } finally {
    await other.close();
  }
}

interface Answer {
  readonly allowed: boolean;
  readonly metrics: string;
}

describe('a change', () => {
  it('FC-1 passes where there are no policies', async () => {
    expect(await gate.ask(creation())).toMatchObject({ allowed: true });
  });

  it('FC-2 is refused by a freeze that denies it, with who, why, until when, where and whom to ask', async () => {
    await frozen(['CREATE'], {
      timezone: 'Europe/Berlin',
      message: { reason: 'Holiday change freeze', contact: '#platform-oncall', docsURL: 'https://wiki.example.com/f' },
    });

    const { allowed, status, auditAnnotations } = await gate.ask(creation());

    expect(allowed).toBe(false);
    expect(status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: [
        'Denied by ChangeFreeze/holiday',
        'Holiday change freeze',
        'Next allowed at 2026-12-27T00:00:00Z',
        'Local time 2026-12-27T01:00:00+01:00 Europe/Berlin',
        'Contact: #platform-oncall',
        'Docs: https://wiki.example.com/f',
      ].join(': '),
      details: {
        causes: [{ reason: 'ChangeFreeze', field: 'holiday', message: 'next allowed at 2026-12-27T00:00:00Z' }],
      },
    });
    expect(auditAnnotations).toEqual({ decision: 'denied', policy: 'ChangeFreeze/holiday', action: 'CREATE' });
  });

  it('FC-2 is refused with the plain message of kube-freeze-operator where a policy says nothing more', async () => {
    await frozen(['CREATE']);

    const { status } = await gate.ask(creation());

    expect(status?.message).toBe(
      'Denied by ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
    );
  });

  it.each([
    ['FC-3', ['ROLL_OUT'], true],
    ['FC-4', ['SCALE'], false],
  ] as const)('%s of replicas alone, under a freeze of %s, passes: %s', async (_case, deny, allowed) => {
    await frozen(deny);

    expect(await gate.ask(update({ replicas: 5 }))).toMatchObject({ allowed });
  });

  it.each([
    [['SCALE'], 'SCALE'],
    [['ROLL_OUT', 'SCALE'], 'ROLL_OUT'],
  ] as const)('FC-5 of image and replicas under a freeze of %j is refused as %s', async (deny, action) => {
    await frozen(deny);

    const { allowed, auditAnnotations } = await gate.ask(update({ image: 'web:2', replicas: 5 }));

    expect(allowed).toBe(false);
    expect(auditAnnotations).toMatchObject({ action });
    expect(await gate.metrics()).toContain(
      `freeze_operator_denied_requests_total{policy_type="ChangeFreeze",policy_name="holiday",namespace="prod",kind="Deployment",action="${action}"}`,
    );
  });

  it.each([
    ['paused', { paused: true }, {}],
    ['the labels', {}, { labels: { app: 'web', team: 'other' } }],
    ['the strategy', { strategy: { type: 'Recreate' } }, {}],
  ])('FC-5 of %s that comes along with other replicas is a rollout too', async (_what, spec, traits) => {
    await frozen(['ROLL_OUT']);
    const { object, oldObject } = update({ replicas: 5, ...traits });

    const answer = await gate.ask({
      operation: 'UPDATE',
      object: { ...object, spec: { ...deployment().spec, replicas: 5, ...spec } } as KubeObject,
      oldObject: oldObject ?? null,
    });

    expect(answer).toMatchObject({ allowed: false, auditAnnotations: { action: 'ROLL_OUT' } });
  });

  it('FC-3 of replicas passes with the note that kubectl apply leaves in an annotation', async () => {
    await frozen(['ROLL_OUT']);
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

    expect(await gate.ask(update({ replicas: 5, annotations }))).toMatchObject({ allowed: true });
  });

  it('FC-6 of an annotation counts as a rollout', async () => {
    await frozen(['ROLL_OUT']);

    expect(await gate.ask(update({ annotations: { note: 'x' } }))).toMatchObject({ allowed: false });
  });

  it('FC-7 of null to absent and 500m to 0.5 is none, and passes where the settings say so', async () => {
    await frozen(['ROLL_OUT']);
    const request = { operation: 'UPDATE', object: withCpu('500m'), oldObject: withCpu('0.5', null) } as const;

    const strict = await gate.ask(request);
    const lenient = await askWith({ NOOP_UPDATES: 'allow' }, request);
    const changed = await askWith({ NOOP_UPDATES: 'allow' }, { ...request, oldObject: withCpu('0.6', null) });

    expect([strict.allowed, lenient.allowed, changed.allowed]).toEqual([false, true, false]);
  });

  it('FC-8 is refused from the very start of a freeze until just before its end', async () => {
    await frozen(['CREATE']);

    const allowed = [];
    for (const time of ['2026-12-23T23:59:59.999Z', christmas[0], '2026-12-26T23:59:59.999Z', christmas[1]]) {
      world.turnTo(time);
      allowed.push((await gate.ask(creation())).allowed);
    }

    expect(allowed).toEqual([true, false, false, true]);
  });

  it('FC-9 passes before and after a freeze', async () => {
    await world.create(changeFreezes, freeze('past', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], denyAll));
    await world.create(changeFreezes, freeze('future', ['2027-01-01T00:00:00Z', '2027-01-02T00:00:00Z'], denyAll));

    expect(await gate.ask(creation())).toMatchObject({ allowed: true });
  });

  it('FC-10 passes in a namespace that no freeze is about', async () => {
    await frozen(everything);

    expect(await gate.ask({ ...creation(), namespace: 'staging' })).toMatchObject({ allowed: true });
  });

  it('FC-11 FC-22 of a Pod or of a status is nobody’s business', async () => {
    await frozen(everything, { target: { kinds: ['Deployment'] } });
    const pod = { group: '', version: 'v1', kind: 'Pod' };

    expect(await gate.ask({ ...creation(), kind: pod })).toMatchObject({ allowed: true });
    expect(await gate.ask({ ...rollout, subResource: 'status' })).toMatchObject({ allowed: true });
    expect(await gate.metrics()).toMatch(/admission_seconds_count\{outcome="foreign"\} 2/);
    const asked = webhooksOf(freezeCheck).flatMap(({ rules }) => rules.flatMap(({ resources }) => resources));
    expect(asked.filter((resource) => resource.includes('/') && !resource.endsWith('/scale'))).toEqual([]);
  });

  it('FC-12 passes in a namespace that is being deleted', async () => {
    await frozen(['DELETE'], { target: { kinds: ['Deployment'] } });
    await world.create(namespaces, { metadata: { name: 'leaving', finalizers: ['example.com/hold'] } });
    await world.remove(namespaces, 'leaving');

    expect(await gate.ask({ ...deletion(), namespace: 'leaving' })).toMatchObject({ allowed: true });
  });

  it('FC-13 in a namespace that can not be read is refused with 500', async () => {
    expect(await gate.ask({ ...creation(), namespace: 'nowhere' })).toMatchObject({
      allowed: false,
      status: { code: 500, message: 'freeze-check: there is no namespace nowhere' },
    });
  });

  it.each([
    ['no object', null],
    ['no metadata', {}],
    ['labels that are no texts', { metadata: { labels: { app: 7 } } }],
    ['a template that is none', { metadata: {}, spec: { template: 'x' } }],
  ])('FC-14 with %s is refused with 400', async (_what, object) => {
    expect(await gate.ask({ operation: 'CREATE', object: object as KubeObject | null })).toMatchObject({
      allowed: false,
      status: { code: 400, reason: 'BadRequest' },
    });
  });

  it('FC-15 by CONNECT is refused with 400', async () => {
    expect(await gate.ask({ ...creation(), operation: 'CONNECT' })).toMatchObject({
      allowed: false,
      status: { code: 400, message: 'operation "CONNECT" is not supported' },
    });
  });

  it('FC-16 gets the same answer in a dry run', async () => {
    await frozen(['CREATE']);

    expect(await gate.ask({ ...creation(), dryRun: true })).toEqual(await gate.ask(creation()));
  });
});

describe('scaling and controllers', () => {
  const autoscaler = { username: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler', groups: [] };

  it.each([
    [['SCALE'], false],
    [['ROLL_OUT'], true],
  ] as const)('FC-17 a scale under a freeze of %j passes: %s', async (deny, allowed) => {
    await frozen(deny);

    expect(await gate.ask(scale)).toMatchObject({ allowed });
  });

  it.each([
    ['pay', true],
    ['web', false],
  ])(
    'FC-18 a scale is judged by the labels of the workload: a freeze of app=%s lets it pass: %s',
    async (app, allowed) => {
      await frozen(['SCALE'], { target: { kinds: ['Deployment'], objectSelector: { matchLabels: { app } } } });

      expect(await gate.ask(scale)).toMatchObject({ allowed });
    },
  );

  it('FC-19 a scale of what is gone is refused with 500', async () => {
    expect(await gate.ask({ ...scale, name: 'gone' })).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it.each([
    ['FC-20', 'the HorizontalPodAutoscaler', autoscaler.username],
    ['FC-21', 'Knative’s autoscaler', 'system:serviceaccount:knative-serving:controller'],
  ])('%s %s is refused like everybody else, unless autoscalers are exempt', async (_case, _who, username) => {
    await frozen(['SCALE', 'CREATE']);
    const userInfo = { username, groups: ['system:serviceaccounts'] };

    const byDefault = await gate.ask({ ...scale, userInfo });
    const exempt = await askWith({ EXEMPT_AUTOSCALERS: 'true' }, { ...scale, userInfo });
    const creating = await askWith({ EXEMPT_AUTOSCALERS: 'true' }, { ...creation(), userInfo });

    expect([byDefault.allowed, exempt.allowed, creating.allowed]).toEqual([false, true, false]);
    expect(exempt.metrics).toContain('kube_reflex_freeze_check_bypass_total{reason="autoscaler"} 1');
  });

  it('FC-23 the garbage collector may take its finalizer away', async () => {
    await frozen(['ROLL_OUT']);

    expect(await gate.ask({ operation: 'UPDATE', ...finalized() })).toMatchObject({ allowed: true });
  });

  it('FC-24 but not change an image by the way', async () => {
    await frozen(['ROLL_OUT']);
    const { object, oldObject } = finalized('web:2');

    expect(await gate.ask({ operation: 'UPDATE', object, oldObject })).toMatchObject({ allowed: false });
  });

  it('FC-25 an item of a delete-collection, which has no name of its own, is refused', async () => {
    await frozen(['DELETE']);

    expect(await gate.ask({ ...deletion(), name: '' })).toMatchObject({ allowed: false });
  });

  it('FC-26 the function itself may write CronJobs, and no other account of its namespace', async () => {
    await frozen(everything, { target: { kinds: ['CronJob'] } });
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

    expect(await gate.ask(writtenBy('freeze-check'))).toMatchObject({ allowed: true });
    expect(await gate.ask(writtenBy('istio-rollout'))).toMatchObject({ allowed: false });
    expect(await askWith(settings, writtenBy('other'))).toMatchObject({ allowed: true });
    expect(await askWith(settings, writtenBy('freeze-check'))).toMatchObject({ allowed: false });
  });

  it('FC-27 GitOps tools get one short line', async () => {
    const userInfo = { username: 'argo', groups: ['system:serviceaccounts:argocd'] };
    await frozen(['ROLL_OUT']);
    const byFreeze = await gate.ask({ ...rollout, userInfo });
    await world.remove(changeFreezes, 'holiday');
    await world.create(maintenanceWindows, nightly('nights'));
    const byWindow = await gate.ask({ ...rollout, userInfo });

    expect(byFreeze.status?.message).toBe('[freeze-operator] sync blocked by holiday until 2026-12-27T00:00:00Z');
    expect(byWindow.status?.message).toBe('[freeze-operator] sync blocked by nights');
  });
});

describe('selectors', () => {
  it('FC-28 without a namespaceSelector a policy is about kube-system too', async () => {
    await frozen(['CREATE'], { target: { kinds: ['Deployment'] } });

    expect(await gate.ask({ ...creation(), namespace: 'kube-system' })).toMatchObject({ allowed: false });
  });

  it('FC-29 NotIn matches what has no such label', async () => {
    const matchExpressions = [{ key: 'env', operator: 'NotIn', values: ['dev'] }];
    await frozen(['CREATE'], { target: { kinds: ['Deployment'], namespaceSelector: { matchExpressions } } });

    expect(await gate.ask({ ...creation(), namespace: 'kube-system' })).toMatchObject({ allowed: false });
  });

  it('FC-30 taking a label away does not take a workload out of a freeze', async () => {
    await frozen(['ROLL_OUT'], { target: { kinds: ['Deployment'], objectSelector: { matchLabels: { app: 'pay' } } } });

    expect(await gate.ask(update({ labels: {} }, { labels: { app: 'pay' } }))).toMatchObject({ allowed: false });
    expect(await gate.ask(update({ labels: {} }, { labels: { app: 'web' } }))).toMatchObject({ allowed: true });
  });

  it.each(['DaemonSet', 'StatefulSet'] as const)('FC-31 a %s is covered when listed, and only then', async (name) => {
    const kind = { group: 'apps', version: 'v1', kind: name };
    await frozen(['CREATE', 'DELETE'], { target: { kinds: [name] } });

    const listed = [await gate.ask({ ...creation(), kind }), await gate.ask({ ...deletion(), kind })];
    const unlisted = [await gate.ask(creation()), await gate.ask(deletion())];

    expect([...listed, ...unlisted].map(({ allowed }) => allowed)).toEqual([false, false, true, true]);
  });

  it('FC-32 a new schedule of a CronJob is a rollout', async () => {
    await frozen(['ROLL_OUT'], { target: { kinds: ['CronJob'] } });
    function cronJob(schedule: string): KubeObject {
      return { metadata: { name: 'report' }, spec: { schedule } } as KubeObject;
    }

    expect(
      await gate.ask({
        kind: { group: 'batch', version: 'v1', kind: 'CronJob' },
        operation: 'UPDATE',
        object: cronJob('0 1 * * *'),
        oldObject: cronJob('0 2 * * *'),
      }),
    ).toMatchObject({ allowed: false });
  });
});

/** What the API server is told to ask about. */
function webhooksOf({ admit, config }: typeof freezeCheck): readonly Webhook[] {
  return (admit?.(parseConfig(config, {}), { namespace: 'kube-reflex' }) ?? []).flatMap(({ webhooks }) => webhooks);
}

const denyAll: Partial<ChangeFreezeSpec> = { rules: { deny: everything } };

function withCpu(cpu: string, affinity?: null): KubeObject {
  const { spec, ...rest } = deployment();
  const containers = [{ name: 'web', image: 'web:1', resources: { requests: { cpu } } }];
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers, ...(affinity === null ? { affinity } : {}) },
  };
  return { ...rest, spec: { ...spec, template } } as KubeObject;
}

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
