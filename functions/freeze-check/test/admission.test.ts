import { describe, expect, it } from '@jest/globals';
import { changeFreezes, type ChangeFreezeSpec } from '../policy.ts';
import freezeCheck from '../index.ts';
import { parseConfig } from '../../../lib/function/config.ts';
import type { Webhook } from '../../../lib/function/admission.ts';
import { namespaces } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { freeze } from './objects.ts';
import { christmas, everything, useProd } from './prod.ts';
import { creation, deletion, deployment, rollout, update } from './reviews.ts';

const prod = useProd();

describe('a change', () => {
  it('FC-1 passes where there are no policies', async () => {
    expect(await prod.gate.ask(creation())).toMatchObject({ allowed: true });
  });

  it('FC-2 is refused by a freeze that denies it, with who, why, until when, where and whom to ask', async () => {
    await prod.frozen(['CREATE'], {
      timezone: 'Europe/Berlin',
      message: { reason: 'Holiday change freeze', contact: '#platform-oncall', docsURL: 'https://wiki.example.com/f' },
    });

    const { allowed, status, auditAnnotations } = await prod.gate.ask(creation());

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
    await prod.frozen(['CREATE']);

    const { status } = await prod.gate.ask(creation());

    expect(status?.message).toBe(
      'Denied by ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
    );
  });

  it.each([
    ['FC-3', ['ROLL_OUT'], true],
    ['FC-4', ['SCALE'], false],
  ] as const)('%s of replicas alone, under a freeze of %s, passes: %s', async (_case, deny, allowed) => {
    await prod.frozen(deny);

    expect(await prod.gate.ask(update({ replicas: 5 }))).toMatchObject({ allowed });
  });

  it.each([
    [['SCALE'], 'SCALE'],
    [['ROLL_OUT', 'SCALE'], 'ROLL_OUT'],
  ] as const)('FC-5 of image and replicas under a freeze of %j is refused as %s', async (deny, action) => {
    await prod.frozen(deny);

    const { allowed, auditAnnotations } = await prod.gate.ask(update({ image: 'web:2', replicas: 5 }));

    expect(allowed).toBe(false);
    expect(auditAnnotations).toMatchObject({ action });
    expect(await prod.gate.metrics()).toContain(
      `freeze_operator_denied_requests_total{policy_type="ChangeFreeze",policy_name="holiday",namespace="prod",kind="Deployment",action="${action}"}`,
    );
  });

  it.each([
    ['paused', { paused: true }, {}],
    ['the labels', {}, { labels: { app: 'web', team: 'other' } }],
    ['the strategy', { strategy: { type: 'Recreate' } }, {}],
  ])('FC-3 FC-4 of %s that comes along with other replicas is a scale alone', async (_what, spec, traits) => {
    const { object, oldObject } = update({ replicas: 5, ...traits });
    const both = {
      operation: 'UPDATE' as const,
      object: { ...object, spec: { ...deployment().spec, replicas: 5, ...spec } } as KubeObject,
      oldObject: oldObject ?? null,
    };

    await prod.frozen(['ROLL_OUT'], {}, 'rollouts');
    const underRollouts = await prod.gate.ask(both);
    await prod.frozen(['SCALE'], {}, 'scales');
    const underScales = await prod.gate.ask(both);

    expect(underRollouts).toMatchObject({ allowed: true });
    expect(underScales).toMatchObject({ allowed: false, auditAnnotations: { action: 'SCALE' } });
  });

  it('FC-3 of replicas passes with the note that kubectl apply leaves in an annotation', async () => {
    await prod.frozen(['ROLL_OUT']);
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

    expect(await prod.gate.ask(update({ replicas: 5, annotations }))).toMatchObject({ allowed: true });
  });

  it('FC-6 of an annotation counts as a rollout', async () => {
    await prod.frozen(['ROLL_OUT']);

    expect(await prod.gate.ask(update({ annotations: { note: 'x' } }))).toMatchObject({ allowed: false });
  });

  it('FC-7 of null to absent and 500m to 0.5 is none, and passes where the settings say so', async () => {
    await prod.frozen(['ROLL_OUT']);
    const request = { operation: 'UPDATE', object: withCpu('500m'), oldObject: withCpu('0.5', null) } as const;

    const strict = await prod.gate.ask(request);
    const lenient = await prod.askWith({ NOOP_UPDATES: 'allow' }, request);
    const changed = await prod.askWith({ NOOP_UPDATES: 'allow' }, { ...request, oldObject: withCpu('0.6', null) });

    expect([strict.allowed, lenient.allowed, changed.allowed]).toEqual([false, true, false]);
  });

  it('FC-8 is refused from the very start of a freeze until just before its end', async () => {
    await prod.frozen(['CREATE']);

    const allowed = [];
    for (const time of ['2026-12-23T23:59:59.999Z', christmas[0], '2026-12-26T23:59:59.999Z', christmas[1]]) {
      prod.world.turnTo(time);
      allowed.push((await prod.gate.ask(creation())).allowed);
    }

    expect(allowed).toEqual([true, false, false, true]);
  });

  it('FC-9 passes before and after a freeze', async () => {
    await prod.world.create(changeFreezes, freeze('past', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], denyAll));
    await prod.world.create(changeFreezes, freeze('future', ['2027-01-01T00:00:00Z', '2027-01-02T00:00:00Z'], denyAll));

    expect(await prod.gate.ask(creation())).toMatchObject({ allowed: true });
  });

  it('FC-10 passes in a namespace that no freeze is about', async () => {
    await prod.frozen(everything);

    expect(await prod.gate.ask({ ...creation(), namespace: 'staging' })).toMatchObject({ allowed: true });
  });

  it('FC-11 FC-22 of a Pod or of a status is nobody’s business', async () => {
    await prod.frozen(everything, { target: { kinds: ['Deployment'] } });
    const pod = { group: '', version: 'v1', kind: 'Pod' };

    expect(await prod.gate.ask({ ...creation(), kind: pod })).toMatchObject({ allowed: true });
    expect(await prod.gate.ask({ ...rollout, subResource: 'status' })).toMatchObject({ allowed: true });
    expect(await prod.gate.metrics()).toMatch(/admission_seconds_count\{outcome="foreign"\} 2/);
    const asked = webhooksOf(freezeCheck).flatMap(({ rules }) => rules.flatMap(({ resources }) => resources));
    expect(asked.filter((resource) => resource.includes('/') && !resource.endsWith('/scale'))).toEqual([]);
  });

  it('FC-12 passes in a namespace that is being deleted', async () => {
    await prod.frozen(['DELETE'], { target: { kinds: ['Deployment'] } });
    await prod.world.create(namespaces, { metadata: { name: 'leaving', finalizers: ['example.com/hold'] } });
    await prod.world.remove(namespaces, 'leaving');

    expect(await prod.gate.ask({ ...deletion(), namespace: 'leaving' })).toMatchObject({ allowed: true });
  });

  it('FC-13 in a namespace that can not be read is refused with 500', async () => {
    expect(await prod.gate.ask({ ...creation(), namespace: 'nowhere' })).toMatchObject({
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
    expect(await prod.gate.ask({ operation: 'CREATE', object: object as KubeObject | null })).toMatchObject({
      allowed: false,
      status: { code: 400, reason: 'BadRequest' },
    });
  });

  it('FC-15 by CONNECT is refused with 400', async () => {
    expect(await prod.gate.ask({ ...creation(), operation: 'CONNECT' })).toMatchObject({
      allowed: false,
      status: { code: 400, message: 'operation "CONNECT" is not supported' },
    });
  });

  it('FC-16 gets the same answer in a dry run', async () => {
    await prod.frozen(['CREATE']);

    expect(await prod.gate.ask({ ...creation(), dryRun: true })).toEqual(await prod.gate.ask(creation()));
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
