import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Body, Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { referenceManifests } from '../reference.ts';
import { openFreezeSite, policies, type FreezeSite } from './freeze-site.ts';
import type { RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest, pathOf } from '../../../../test/support/manifests.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;
const freezes = `${policies}/changefreezes`;
const eitherOr = 'startTime and endTime are required, or schedule and duration instead of them';
const timeless = { startTime: null, endTime: null };
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const nightly = {
  timezone: 'UTC',
  mode: 'DenyOutsideWindows',
  windows: [{ name: 'night', schedule: '0 22 * * *', duration: '4h' }],
  target: { kinds: ['Deployment'] },
  rules: { deny: ['ROLL_OUT'] },
};

describe('policies on the real API server', () => {
  let site: FreezeSite;
  let events: RealFunction;

  beforeAll(async () => {
    site = await openFreezeSite({ parts: [] });
    await site.configure();
    await site.startWebhook();
    events = await site.startEvents(1);
    const wrong = { metadata: { name: 'probe' }, spec: { ...nightly, timezone: 'Mars/Olympus' } };
    await waitUntil('the webhook is asked', async () => {
      const body = { apiVersion: 'freeze-operator.io/v1alpha1', kind: 'MaintenanceWindow', ...wrong };
      return (await site.client.call('POST', `${policies}/maintenancewindows`, { body })).code === 403;
    });
  }, patience);

  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  afterEach(() => site.removePolicies());

  it('FC-72 keeps the status as kubectl get shows it, and tells each turn once', async () => {
    await site.freeze('shown');
    await Promise.all([site.tick(events), site.tick(events)]);

    const { text } = await site.client.call('GET', freezes, { headers: { accept: table } });
    const { columnDefinitions = [], rows = [] } = JSON.parse(text) as Table;
    const news = await site.client.call('GET', '/apis/events.k8s.io/v1/namespaces/default/events', {
      query: { fieldSelector: 'regarding.name=shown' },
    });

    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Active', 'Start', 'End', 'Remaining', 'Age']);
    expect(rows[0]?.cells.slice(0, 2)).toEqual(['shown', true]);
    expect((news.body.items ?? []).map((event) => event.reason)).toEqual(['Activated']);
  });

  it('FC-75 takes the manifests that users of kube-freeze-operator have, unedited', async () => {
    for (const manifest of referenceManifests) {
      await applyManifest(site.client, manifest);
    }
    const status = await site.tick(events);

    const kept = await Promise.all(referenceManifests.map((manifest) => site.client.call('GET', pathOf(manifest))));
    expect(status).toBe(204);
    expect(kept.map(({ body }) => body.spec)).toEqual(referenceManifests.map(({ spec }) => spec));
    expect(kept.map(({ body }) => readinessOf(body))).toEqual(referenceManifests.map(() => 'True'));
  });

  it('shows each kind in the columns that matter, once its status is written', async () => {
    await site.freeze('shown');
    await write('MaintenanceWindow', windowWith({ schedule: '0 0 30 2 *' }), 'shut');
    await write('MaintenanceWindow', { windows: [{ name: 'always', schedule: '* * * * *', duration: '2m' }] }, 'open');
    await write('FreezeException', { approvedBy: 'sre-lead' });
    const status = await site.tick(events);

    expect(status).toBe(204);
    expect(await shown('changefreezes')).toEqual([
      {
        Name: 'shown',
        Active: true,
        Start: '2020-01-01T00:00:00Z',
        End: '2099-01-01T00:00:00Z',
        Remaining: expect.stringMatching(/^\d+h\d+m0s$/),
        Age: expect.any(String),
      },
    ]);
    expect(await shown('maintenancewindows')).toEqual([
      { Name: 'open', Active: true, Window: 'always', Next: expect.stringMatching(instant), Age: expect.any(String) },
      { Name: 'shut', Active: false, Window: null, Next: null, Age: expect.any(String) },
    ]);
    expect(await shown('freezeexceptions')).toEqual([
      {
        Name: 'wrong',
        Active: true,
        From: '2020-01-01T00:00:00Z',
        To: '2099-01-01T00:00:00Z',
        'Approved-By': 'sre-lead',
        Age: expect.any(String),
      },
    ]);
  });

  /** What `kubectl get` shows, by the names of the columns. */
  async function shown(plural: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { text } = await site.client.call('GET', `${policies}/${plural}`, { headers: { accept: table } });
    const { columnDefinitions = [], rows = [] } = JSON.parse(text) as Table;
    return rows.map(({ cells }) =>
      Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, cells[index]])),
    );
  }

  it('keeps status and spec apart: neither is written by the way of the other', async () => {
    const { metadata } = await site.freeze('apart');
    const path = `${freezes}/apart`;
    const active = { status: { active: false }, spec: { endTime: '2098-01-01T00:00:00Z' } };

    expectCode(200, await site.merge(path, { status: { active: false } }));
    const bySpec = expectCode(200, await site.client.call('GET', path));
    expectCode(200, await site.merge(`${path}/status`, active));
    const byStatus = expectCode(200, await site.client.call('GET', path));

    expect(bySpec.status).toBeUndefined();
    expect(byStatus.status).toEqual({ active: false });
    expect([byStatus.spec?.['endTime'], byStatus.metadata?.generation]).toEqual([
      '2099-01-01T00:00:00Z',
      metadata?.generation,
    ]);
  });

  /** Writes a policy as it should be but for these fields. */
  function write(kind: keyof typeof right, spec: object, name = 'wrong'): Promise<Reply> {
    const body = {
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind,
      metadata: { name },
      spec: { ...right[kind], ...spec },
    };
    return site.client.call('POST', `${policies}/${kind.toLowerCase()}s`, { body });
  }

  it.each([
    ['ChangeFreeze', 'an end before the start', { endTime: '2019-01-01T00:00:00Z' }, 'endTime must be after startTime'],
    ['ChangeFreeze', 'an end at the start', { endTime: '2020-01-01T00:00:00Z' }, 'endTime must be after startTime'],
    [
      'ChangeFreeze',
      'an end by the clock of elsewhere',
      { endTime: '2020-01-01T01:00:00+02:00' },
      'endTime must be after startTime',
    ],
    ['ChangeFreeze', 'no end', { endTime: null }, eitherOr],
    ['ChangeFreeze', 'a schedule beside its times', { schedule: '0 0 * * 6', duration: '48h' }, eitherOr],
    ['ChangeFreeze', 'a schedule without a duration', { ...timeless, schedule: '0 0 * * 6' }, eitherOr],
    ['ChangeFreeze', 'a duration beside its times', { duration: '48h' }, eitherOr],
    ['ChangeFreeze', 'a time that is none', { endTime: 'tomorrow' }, 'spec.endTime: Invalid value'],
    ['ChangeFreeze', 'an unknown action', { rules: { deny: ['RESTART'] } }, 'Unsupported value: "RESTART"'],
    ['ChangeFreeze', 'nothing to deny', { rules: { deny: [] } }, 'should have at least 1 items'],
    ['ChangeFreeze', 'no kinds at all', { target: { kinds: [] } }, 'should have at least 1 items'],
    ['ChangeFreeze', 'a kind of others', { target: { kinds: ['Pod'] } }, 'Unsupported value: "Pod"'],
    ['ChangeFreeze', 'no target', { target: null }, 'spec.target: Required value'],
    ['ChangeFreeze', 'an unknown enforcement', { enforcement: 'Maybe' }, 'Unsupported value: "Maybe"'],
    [
      'FreezeException',
      'an end before the start',
      { activeTo: '2019-01-01T00:00:00Z' },
      'activeTo must be after activeFrom',
    ],
    [
      'FreezeException',
      'an end at the start',
      { activeTo: '2020-01-01T00:00:00Z' },
      'activeTo must be after activeFrom',
    ],
    ['FreezeException', 'no end', { activeTo: null }, 'spec.activeTo: Required value'],
    ['FreezeException', 'nothing that it allows', { allow: [] }, 'should have at least 1 items'],
    ['FreezeException', 'an empty reason', { reason: '' }, 'should be at least 1 chars long'],
    ['FreezeException', 'no reason', { reason: null }, 'spec.reason: Required value'],
    ['MaintenanceWindow', 'no windows', { windows: [] }, 'should have at least 1 items'],
    ['MaintenanceWindow', 'an empty schedule', windowWith({ schedule: '' }), 'should be at least 1 chars long'],
    ['MaintenanceWindow', 'no schedule', windowWith({ schedule: null }), 'spec.windows[0].schedule: Required value'],
    ['MaintenanceWindow', 'no duration', windowWith({ duration: null }), 'spec.windows[0].duration: Required value'],
    ['MaintenanceWindow', 'a window without a name', windowWith({ name: '' }), 'should be at least 1 chars long'],
    ['MaintenanceWindow', 'an unknown mode', { mode: 'Deny' }, 'Unsupported value: "Deny"'],
    ['MaintenanceWindow', 'an empty zone', { timezone: '' }, 'should be at least 1 chars long'],
  ] as const)('FC-73 refuses by the schema a %s with %s', async (kind, _what, spec, message) => {
    const reply = await write(kind, spec);

    expect(reply.code).toBe(422);
    expect(reply.body.message).toContain(message);
  });

  it.each([
    ['ChangeFreeze', { timezone: 'Mars/Olympus' }, 'spec.timezone: invalid timezone "Mars/Olympus": '],
    [
      'ChangeFreeze',
      { target: { kinds: ['Deployment'], objectSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
      'spec.target.objectSelector',
    ],
    [
      'ChangeFreeze',
      { ...timeless, schedule: '@daily', duration: '1h' },
      'spec.schedule: invalid cron expression "@daily": ',
    ],
    ['ChangeFreeze', { ...timeless, schedule: '0 0 * * 6', duration: '2d' }, 'spec.duration: invalid duration "2d": '],
    [
      'FreezeException',
      { target: { kinds: ['Deployment'], namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'spec.target.namespaceSelector',
    ],
    ['MaintenanceWindow', { timezone: 'Mars/Olympus' }, 'spec.timezone: invalid timezone "Mars/Olympus": '],
    [
      'MaintenanceWindow',
      windowWith({ schedule: '0 25 * * *' }),
      'spec.windows[0].schedule: invalid cron expression "0 25 * * *": ',
    ],
    ['MaintenanceWindow', windowWith({ duration: '0s' }), 'spec.windows[0].duration: must be greater than 0'],
    ['MaintenanceWindow', windowWith({ duration: '-4h' }), 'spec.windows[0].duration: must be greater than 0'],
    ['MaintenanceWindow', windowWith({ duration: '1d' }), 'spec.windows[0].duration: invalid duration "1d": '],
  ] as const)('FC-73 refuses a %s with %j, in words that name the field', async (kind, spec, message) => {
    const { code, body } = await write(kind, spec);

    expect(code).toBe(403);
    expect(body.message).toContain(`denied the request: ${message}`);
  });

  it('FC-73 refuses a change for the worse as it does a new policy, and lets one be deleted', async () => {
    expectCode(201, await write('MaintenanceWindow', {}));
    const path = `${policies}/maintenancewindows/wrong`;

    const worse = await site.merge(path, { spec: { timezone: 'Mars/Olympus' } });

    expect(worse.code).toBe(403);
    expect(worse.body.message).toContain('spec.timezone: invalid timezone "Mars/Olympus"');
    await site.remove(path);
  });

  it('FC-74 refuses schedules that kube-freeze-operator stumbled over, and goes on', async () => {
    const schedules = ['TZ=UTC', ', * * * *', '0 22 * * 7', '@daily', '0 0 22 * * *'];

    const replies: Reply[] = [];
    for (const schedule of schedules) {
      replies.push(await write('MaintenanceWindow', windowWith({ schedule })));
    }
    const sound = await write('MaintenanceWindow', {});

    expect(
      replies.map(({ code, body }) => [
        code,
        body.message?.includes('spec.windows[0].schedule: invalid cron expression'),
      ]),
    ).toEqual(schedules.map(() => [403, true]));
    expect(sound.code).toBe(201);
  });

  it('warns of what is hardly meant so', async () => {
    const { code, warnings } = await write('MaintenanceWindow', windowWith({ schedule: '0 0 30 2 *' }));

    expect([code, warnings]).toEqual([201, ['spec.windows[0]: never opens within the next five years']]);
  });

  it('serves its kinds under short names, in a category', async () => {
    const { text } = await site.client.call('GET', policies);
    const { resources = [] } = JSON.parse(text) as { resources?: readonly ServedKind[] };

    expect(
      resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, shortNames, categories, namespaced }) => ({ name, shortNames, categories, namespaced })),
    ).toEqual(
      expect.arrayContaining([
        { name: 'changefreezes', shortNames: ['cf'], categories: ['freeze'], namespaced: false },
        { name: 'maintenancewindows', shortNames: ['mw'], categories: ['freeze'], namespaced: false },
        { name: 'freezeexceptions', shortNames: ['fex'], categories: ['freeze'], namespaced: false },
      ]),
    );
    expect(resources.filter(({ name }) => name.endsWith('/status'))).toHaveLength(3);
  });
});

function windowWith(fields: object): object {
  return { windows: [{ ...nightly.windows[0], ...fields }] };
}

/** A policy of each kind that nothing is wrong with. */
const right = {
  ChangeFreeze: {
    startTime: '2020-01-01T00:00:00Z',
    endTime: '2099-01-01T00:00:00Z',
    target: { kinds: ['Deployment'] },
    rules: { deny: ['ROLL_OUT'] },
  },
  FreezeException: {
    activeFrom: '2020-01-01T00:00:00Z',
    activeTo: '2099-01-01T00:00:00Z',
    target: { kinds: ['Deployment'] },
    allow: ['ROLL_OUT'],
    reason: 'hotfix',
  },
  MaintenanceWindow: nightly,
} as const;

function readinessOf({ status }: Body): string | undefined {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.find(({ type }) => type === 'Ready')?.status;
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Table {
  readonly columnDefinitions?: readonly { readonly name: string }[];
  readonly rows?: readonly { readonly cells: readonly unknown[] }[];
}

interface ServedKind {
  readonly name: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced?: boolean;
}
