import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  changeFreezes,
  enforcementLabel,
  freezeExceptions,
  maintenanceWindows,
  type Action,
  type FreezeExceptionSpec,
} from '../policy.ts';
import { events, namespaces } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { exception, freeze, namespaceNamed, nightly } from './objects.ts';
import { creation, deletion, openGate, rollout, update, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

const noon = '2026-12-25T12:00:00Z';
const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
const deny: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];
const denyAll = { rules: { deny } };

let world: World;
let gate: Gate;

beforeAll(async () => {
  world = await openWorld({ at: noon });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  gate = await openGate(world);
});
afterAll(async () => {
  await gate.close();
  await world.close();
});
afterEach(async () => {
  world.turnTo(noon);
  world.sandbox.faults.clear();
  for (const kind of [changeFreezes, maintenanceWindows, freezeExceptions]) {
    for (const { metadata } of world.sandbox.api.list(kind)) {
      await world.remove(kind, metadata?.name ?? '');
    }
  }
});

function frozen(name: string, end: string = christmas[1]): Promise<unknown> {
  return world.create(changeFreezes, freeze(name, [christmas[0], end], denyAll));
}

function windowed(name: string, schedule: string, duration: string): Promise<unknown> {
  const windows = [{ name: 'only', schedule, duration }];
  return world.create(maintenanceWindows, nightly(name, { windows, ...denyAll }));
}

function excepted(name: string, spec: Partial<FreezeExceptionSpec>): Promise<unknown> {
  const made = exception(name, christmas);
  return world.create(freezeExceptions, { ...made, spec: { ...made.spec, ...spec } });
}

/** The Events about a policy. */
function news(policy: string): readonly KubeObject[] {
  const told = world.sandbox.api.list(events) as readonly (KubeObject & { readonly note?: string })[];
  return told.filter(({ note }) => note?.includes(`Denied by ChangeFreeze/${policy}: `) === true);
}

async function messageOf(request: Parameters<Gate['ask']>[0] = rollout): Promise<string> {
  const { allowed, status } = await gate.ask(request);
  return allowed ? 'allowed' : (status?.message ?? '');
}

describe('policies that overlap', () => {
  it('FC-51 name the one that ends first, and when all are over', async () => {
    await frozen('a', '2026-12-26T10:00:00Z');
    await frozen('b', '2026-12-26T12:00:00Z');

    expect(await messageOf()).toBe(
      'Denied by ChangeFreeze/a: ChangeFreeze is active: Next allowed at 2026-12-26T10:00:00Z: All policies clear at 2026-12-26T12:00:00Z',
    );
  });

  it('FC-52 are clear only when a window is open and no freeze is on', async () => {
    world.turnTo('2026-12-28T14:00:00Z');
    await frozen('holiday', '2027-01-02T09:00:00Z');
    await windowed('nights', '0 1 * * *', '6h');

    expect(await messageOf()).toBe(
      'Denied by MaintenanceWindow/nights: Outside maintenance window: Next allowed at 2026-12-29T01:00:00Z: All policies clear at 2027-01-03T01:00:00Z',
    );
  });

  it('FC-52 count a freeze that begins before the other is over', async () => {
    await frozen('a', '2026-12-26T10:00:00Z');
    await world.create(changeFreezes, freeze('b', ['2026-12-26T09:00:00Z', '2026-12-28T00:00:00Z'], denyAll));

    expect(await messageOf()).toContain('All policies clear at 2026-12-28T00:00:00Z');
  });

  it('FC-53 refuse inside a window while a freeze is on', async () => {
    await frozen('holiday');
    await windowed('days', '0 8 * * *', '10h');

    expect(await messageOf()).toMatch(/^Denied by ChangeFreeze\/holiday: /);
  });

  it('FC-54 that end together are named by the alphabet', async () => {
    await frozen('b');
    await frozen('a');

    expect(await messageOf()).toMatch(/^Denied by ChangeFreeze\/a: /);
  });

  it('FC-55 FC-47 name one that never ends last, and no time for it alone', async () => {
    await windowed('never', '0 0 30 2 *', '1h');
    const alone = await messageOf();
    await frozen('zebra');

    expect(alone).toBe('Denied by MaintenanceWindow/never: Outside maintenance window');
    expect(await messageOf()).toBe(
      'Denied by ChangeFreeze/zebra: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
    );
  });
});

describe('an exception', () => {
  it('FC-56 lets pass what it allows and nothing else', async () => {
    await frozen('holiday');
    await excepted('hotfix', { allow: ['ROLL_OUT'], ticketURL: 'https://tickets.example.com/7' });

    const { allowed, auditAnnotations } = await gate.ask(rollout);

    expect(allowed).toBe(true);
    expect(auditAnnotations).toEqual({
      decision: 'exception',
      policy: 'ChangeFreeze/holiday',
      action: 'ROLL_OUT',
      exception: 'hotfix',
      ticket: 'https://tickets.example.com/7',
    });
    expect(await messageOf(deletion())).toContain('Denied by');
    expect(await messageOf(update({ image: 'web:2', replicas: 3 }))).toContain('Denied by');
  });

  it('FC-57 for users and for groups asks for both', async () => {
    await frozen('holiday');
    await excepted('hotfix', { constraints: { allowedUsers: ['a'], allowedGroups: ['g'] } });

    const asked = [
      { username: 'a', groups: [] },
      { username: 'b', groups: ['g'] },
      { username: 'a', groups: ['other', 'g'] },
    ];
    const answers = await Promise.all(asked.map((userInfo) => gate.ask({ ...rollout, userInfo })));

    expect(answers.map(({ allowed }) => allowed)).toEqual([false, false, true]);
  });

  it.each([
    [{ hotfix: 'true' }, {}, false],
    [{ hotfix: 'true' }, { hotfix: 'true' }, true],
    [{ x: '' }, {}, false],
    [{ x: '' }, { x: '' }, true],
    [{ constructor: '' }, {}, false],
  ])('FC-58 that requires the labels %j lets pass one labelled %j: %s', async (requireLabels, labels, allowed) => {
    await frozen('holiday');
    await excepted('hotfix', { constraints: { requireLabels } });

    expect(await gate.ask(update({ image: 'web:2', labels }))).toMatchObject({ allowed });
  });

  it('FC-59 is over at its end', async () => {
    await frozen('holiday', '2027-01-01T00:00:00Z');
    await excepted('hotfix', {});

    world.turnTo('2026-12-26T23:59:59.999Z');
    const before = await messageOf();
    world.turnTo(christmas[1]);

    expect(before).toBe('allowed');
    expect(await messageOf()).toContain('Denied by');
  });

  it('FC-60 among others is counted by the alphabet, and only where something was denied', async () => {
    await excepted('b', {});
    await excepted('a', {});
    await gate.ask(rollout);
    const unused = await gate.metrics();
    await frozen('holiday');
    await gate.ask(rollout);

    expect(unused).not.toContain('freeze_operator_exception_overrides_total{exception_name="a"');
    expect(await gate.metrics()).toContain(
      'freeze_operator_exception_overrides_total{exception_name="a",policy_type="ChangeFreeze",policy_name="holiday"} 1',
    );
  });

  it('FC-61 that can not be read is none, and freezes that can not be read are an error', async () => {
    await frozen('holiday');
    await excepted('hotfix', {});
    const fail = { do: 'refuse', status: 503 } as const;

    world.sandbox.faults.add({ user: gate.user, resource: 'freezeexceptions', effect: fail });
    const withoutExceptions = await messageOf();
    world.sandbox.faults.clear();
    world.sandbox.faults.add({ user: gate.user, resource: 'changefreezes', effect: fail });
    const withoutFreezes = await gate.ask(rollout);

    expect(withoutExceptions).toContain('Denied by ChangeFreeze/holiday');
    expect(withoutFreezes).toMatchObject({ allowed: false, status: { code: 500 } });
  });
});

describe('what is new', () => {
  it('a freeze may recur, in the time of its zone', async () => {
    const { startTime: _start, endTime: _end, ...spec } = freeze('weekends', christmas, denyAll).spec;
    await world.create(changeFreezes, {
      metadata: { name: 'weekends' },
      spec: { ...spec, schedule: '0 18 * * fri', duration: '62h', timezone: 'Europe/Berlin' },
    });

    const messages = [];
    for (const time of ['2026-12-25T16:59:59Z', '2026-12-25T17:00:00Z', '2026-12-28T07:00:00Z']) {
      world.turnTo(time);
      messages.push(await messageOf());
    }

    expect(messages).toEqual([
      'allowed',
      'Denied by ChangeFreeze/weekends: ChangeFreeze is active: Next allowed at 2026-12-28T07:00:00Z: Local time 2026-12-28T08:00:00+01:00 Europe/Berlin',
      'allowed',
    ]);
  });

  it('windows may deny inside instead of outside', async () => {
    const windows = [{ name: 'rush', schedule: '0 10 * * *', duration: '4h' }];
    await world.create(maintenanceWindows, nightly('rush', { mode: 'DenyInsideWindows', windows }));

    const inside = await messageOf();
    world.turnTo('2026-12-25T14:00:00Z');

    expect(inside).toContain('Denied by MaintenanceWindow/rush: Inside a window without changes: Next allowed at');
    expect(await messageOf()).toBe('allowed');
  });

  it('a policy may warn, or only count and tell, before it is enforced', async () => {
    await world.create(changeFreezes, freeze('loud', christmas, { enforcement: 'Warn' }));
    await world.create(changeFreezes, freeze('quiet', christmas, { enforcement: 'Audit' }));

    const { allowed, warnings } = await gate.ask(rollout);
    const metrics = await gate.metrics();

    expect(allowed).toBe(true);
    expect(warnings).toEqual([
      'not enforced yet: Denied by ChangeFreeze/loud: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
    ]);
    expect(metrics).toContain('would_deny_total{policy_type="ChangeFreeze",policy_name="loud"} 1');
    expect(metrics).toContain('would_deny_total{policy_type="ChangeFreeze",policy_name="quiet"} 1');
    await until(() => news('quiet').length > 0, 'the Event of the quiet one is written');
    expect(news('quiet')).toMatchObject([
      { type: 'Normal', reason: 'ChangeAudited', note: expect.stringMatching(/^not enforced yet: /) },
    ]);
    expect(news('loud')).toEqual([]);
  });

  it('a namespace may have its own enforcement', async () => {
    await world.create(namespaces, namespaceNamed('trial', { env: 'prod', [enforcementLabel]: 'Warn' }));
    await frozen('holiday');

    expect(await gate.ask({ ...rollout, namespace: 'trial' })).toMatchObject({ allowed: true });
  });

  it('a change shortly before a freeze gets a warning', async () => {
    await world.create(
      changeFreezes,
      freeze('soon', ['2026-12-26T11:00:00Z', '2026-12-27T00:00:00Z'], { message: { reason: 'year\nend' } }),
    );
    await world.create(changeFreezes, freeze('later', ['2026-12-26T13:00:00Z', '2026-12-27T00:00:00Z']));

    expect((await gate.ask(rollout)).warnings).toEqual(['ChangeFreeze/soon begins at 2026-12-26T11:00:00Z: year end']);
    expect((await gate.ask(creation())).warnings).toBeUndefined();
  });

  it('a refusal is told once as an Event on the workload', async () => {
    await frozen('told');
    await Promise.all([gate.ask(rollout), gate.ask(rollout), gate.ask({ ...rollout, dryRun: true })]);

    await until(() => news('told').length > 0, 'the Event is written');

    expect(news('told')).toMatchObject([
      {
        metadata: { namespace: 'prod' },
        type: 'Warning',
        reason: 'ChangeDenied',
        regarding: { kind: 'Deployment', name: 'web' },
      },
    ]);
  });
});
