import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Body } from '../contract/api/client.ts';
import { referenceManifests } from '../freeze-check/reference.ts';
import { openFreezeSite, policies, type FreezeSite } from './freeze-site.ts';
import type { RealFunction } from './function.ts';
import { applyManifest, pathOf } from './manifests.ts';
import { waitUntil } from './wait.ts';

const patience = 300_000;
const freezes = `${policies}/changefreezes`;

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

  it.each([
    ['an end before the start', { endTime: '2019-01-01T00:00:00Z' }, 'endTime must be after startTime'],
    ['an unknown action', { rules: { deny: ['RESTART'] } }, 'Unsupported value: "RESTART"'],
    ['no kinds at all', { target: { kinds: [] } }, 'should have at least 1 items'],
    ['no target', { target: null }, 'spec.target: Required value'],
  ])('refuses by schema a freeze with %s', async (_what, spec, message) => {
    const body = {
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind: 'ChangeFreeze',
      metadata: { name: 'wrong' },
      spec: {
        startTime: '2020-01-01T00:00:00Z',
        endTime: '2099-01-01T00:00:00Z',
        target: { kinds: ['Deployment'] },
        rules: { deny: ['ROLL_OUT'] },
        ...spec,
      },
    };

    const reply = await site.client.call('POST', freezes, { body });

    expect(reply.code).toBe(422);
    expect(reply.body.message).toContain(message);
  });

  it('FC-73 refuses a policy that can not be evaluated, in words that name the field', async () => {
    const body = {
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind: 'MaintenanceWindow',
      metadata: { name: 'wrong' },
      spec: { ...nightly, timezone: 'Mars/Olympus' },
    };

    const reply = await site.client.call('POST', `${policies}/maintenancewindows`, { body });

    expect(reply.code).toBe(403);
    expect(reply.body.message).toContain('spec.timezone: invalid timezone "Mars/Olympus"');
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

const nightly = {
  timezone: 'UTC',
  mode: 'DenyOutsideWindows',
  windows: [{ name: 'night', schedule: '0 22 * * *', duration: '4h' }],
  target: { kinds: ['Deployment'] },
  rules: { deny: ['ROLL_OUT'] },
};

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
