import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import freezeCheck from '../../index.ts';
import { enforcementLabel } from '../../policy.ts';
import type { Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import { autoscaler, cases, knativeAutoscaler, open, passes, windowCases } from './freeze-cases.ts';
import { openFreezeGate, type FreezeGate } from './freeze-gate.ts';
import {
  christmas,
  creation,
  everything,
  exceptionOf,
  freezeOf,
  jsonScale,
  noon,
  pathTo,
  rollout,
  scale,
  update,
  windowsOf,
  workload,
  workloads,
  type Request,
} from './freeze-requests.ts';
import { openFreezeSite, type FreezeSite, type Person } from './freeze-site.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';
import { startReviewServer } from '../../../../test/real/support/review-server.ts';
import { refusedTo } from '../../../../test/real/support/rights.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;
const dev: Person = { user: 'dev@x' };
const places = {
  prod: { env: 'prod' },
  staging: { env: 'staging' },
  plain: {},
  trial: { env: 'prod', [enforcementLabel]: 'Warn' },
};
const registrations = '/apis/admissionregistration.k8s.io/v1';

/**
 * The cases of the specification that are about reviews, each as a request to a real API server that asks freeze-check.
 *
 * Two can't come up there, and are shown only on reviews that are made up (`../admission.test.ts`): FC-14,
 * as an API server sends no object that it could not decode itself, also none that a mutating webhook spoilt; and FC-15,
 * as nothing can be connected to on the kinds that freeze-check judges.
 */
describe('freeze-check asked by a real API server', () => {
  let site: FreezeSite;
  let gate: FreezeGate;

  beforeAll(async () => {
    site = await openFreezeSite({ parts: [] });
    gate = await openFreezeGate(site, noon);
    for (const [name, labels] of Object.entries(places)) {
      expectCode(201, await site.client.call('POST', '/api/v1/namespaces', { body: { metadata: { name, labels } } }));
    }
    await apply(freezeOf(['CREATE']));
    await waitUntil('the webhook is asked', async () => (await ask(creation(), true)).code === 403);
    await site.removePolicies();
  }, patience);

  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await gate[Symbol.asyncDispose]();
  });

  beforeEach(() => make());

  afterEach(async () => {
    gate.turnTo(noon);
    await site.removePolicies();
    const paths = [...Object.keys(places), 'kube-system'].flatMap((place) =>
      workloads.map((plural) => pathTo(plural, '', place)),
    );
    const replies = await Promise.all(paths.map((path) => site.client.call('DELETE', path)));
    expect(replies.map(({ code }) => code)).toEqual(paths.map(() => 200));
  }, patience);

  /** A workload of each kind. */
  async function make(): Promise<void> {
    const made = workloads.map((plural) => site.client.call('POST', pathTo(plural), { body: workload(plural) }));
    expect((await Promise.all(made)).map(({ code }) => code)).toEqual(workloads.map(() => 201));
  }

  async function apply(...policies: readonly AnyManifest[]): Promise<void> {
    for (const policy of policies) {
      await applyManifest(site.client, policy);
    }
  }

  function ask({ method, path, call = {}, by = dev }: Request, dryRun = false): Promise<Reply> {
    return site.as(by, method, path, { ...call, query: { ...call.query, ...(dryRun ? { dryRun: 'All' } : {}) } });
  }

  /** What becomes of it: in a dry run first, which must come to the same. */
  async function become(request: Request): Promise<string> {
    const rehearsed = outcome(await ask(request, true));
    const happened = outcome(await ask(request));
    return rehearsed === happened ? happened : `${happened}, but in a dry run ${rehearsed}`;
  }

  it.each(cases)(
    '$name',
    async ({ at = noon, labels, policies, requests }) => {
      gate.turnTo(at);
      if (labels !== undefined) {
        expectCode(200, await ask(update({ metadata: { labels } })));
      }
      await apply(...policies);

      const outcomes: string[] = [];
      for (const [request] of requests) {
        outcomes.push(await become(request));
      }

      expect(outcomes).toEqual(requests.map(([, expected]) => expected));
    },
    patience,
  );

  it.each(windowCases)(
    '%s in %s by "%s" for %s',
    async (_case, zone, schedule, duration, states) => {
      await apply(windowsOf([{ schedule, duration }], zone));

      const found: Record<string, string> = {};
      for (const time of Object.keys(states)) {
        gate.turnTo(time);
        const said = await become(rollout());
        found[time] = said === passes ? open : (/Next allowed at (\S+Z)/.exec(said)?.[1] ?? said);
      }

      expect(found).toEqual(states);
    },
    patience,
  );

  it.each([
    [['SCALE'], 'SCALE'],
    [['ROLL_OUT', 'SCALE'], 'ROLL_OUT'],
  ] as const)('FC-5 an image and replicas under a freeze of %j are counted as %s', async (deny, action) => {
    await apply(freezeOf(deny));
    const before = await denied();

    const { code } = await ask(rollout({ spec: { replicas: 5 } }));

    expect(code).toBe(403);
    expect(await denied()).toBe(before + 1);

    function denied(): Promise<number> {
      const labels = { policy_type: 'ChangeFreeze', policy_name: 'holiday', namespace: 'prod', kind: 'Deployment' };
      return gate.metric('freeze_operator_denied_requests_total', { ...labels, action });
    }
  });

  it(
    'FC-7 null to absent and 500m to 0.5 is no change, and passes where the settings say so',
    async () => {
      await apply(freezeOf(['ROLL_OUT']));
      function withCpu(cpu: string): Request {
        const containers = [{ name: 'main', image: 'web:1', resources: { requests: { cpu } } }];
        return update({ spec: { template: { spec: { containers, affinity: null } } } });
      }

      const strict = await become(withCpu('0.5'));
      const [lenient, changed] = await withSettings({ NOOP_UPDATES: 'allow' }, async () => [
        await become(withCpu('0.5')),
        await become(withCpu('0.6')),
      ]);

      expect([strict, lenient, changed]).toEqual([refused, passes, refused]);
    },
    patience,
  );

  it.each([
    ['FC-20', scale('deployments', autoscaler), creation()],
    ['FC-21', jsonScale(knativeAutoscaler), creation()],
  ] as const)(
    '%s autoscalers that are exempt may scale, are counted, and may nothing else',
    async (_case, scaling, creating) => {
      await apply(freezeOf(['SCALE', 'CREATE']));

      const byDefault = await become(scaling);
      const exempt = await withSettings({ EXEMPT_AUTOSCALERS: 'true' }, async () => {
        const codes = [await ask(scaling), await ask({ ...creating, by: scaling.by ?? dev }), await ask(scale())];
        return [
          codes.map(outcome),
          await gate.metric('kube_reflex_freeze_check_bypass_total', { reason: 'autoscaler' }),
        ];
      });

      expect(byDefault).toBe(refused);
      expect(exempt).toEqual([[passes, refused, refused], 1]);
    },
    patience,
  );

  /** Has the webhook answer by other settings meanwhile. */
  async function withSettings<T>(settings: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
    await gate.restart(settings);
    await answering();
    try {
      return await work();
    } finally {
      await gate.restart();
      await answering();
    }
  }

  /** The API server may hold a connection to the one before. */
  async function answering(): Promise<void> {
    await waitUntil('the webhook answers', async () => (await ask(creation(), true)).code !== 500);
  }

  it(
    'FC-11 a Pod and a status are nobody’s business: none is asked about, and who asks gets no refusal',
    async () => {
      const account = { metadata: { name: 'default' } };
      expectCode(201, await site.client.call('POST', '/api/v1/namespaces/prod/serviceaccounts', { body: account }));
      await apply(freezeOf(everything, { target: { kinds: ['Deployment'] } }));
      const containers = [{ name: 'main', image: 'web:1' }];
      const pod = { method: 'POST', path: '/api/v1/namespaces/prod/pods' } as const;
      const body = { metadata: { generateName: 'bare-' }, spec: { containers } };
      const status = update({ status: { observedGeneration: 1 } });
      const requests: readonly Request[] = [
        { ...pod, call: { body } },
        { ...status, path: `${status.path}/status` },
      ];
      const before = await reviews();

      const unasked = [];
      for (const request of requests) {
        unasked.push(await become(request));
      }
      const between = await reviews();
      const path = `${registrations}/validatingwebhookconfigurations`;
      expectCode(201, await site.client.call('POST', path, { body: curious(gate.clientConfig) }));
      const asked = [];
      for (const request of requests) {
        const known = await reviews('foreign');
        asked.push(
          await waitFor('it is asked about', async () => {
            const found = outcome(await ask(request));
            return (await reviews('foreign')) > known ? found : undefined;
          }),
        );
      }
      await site.remove(`${path}/curious`);

      expect([...unasked, ...asked]).toEqual([passes, passes, passes, passes]);
      expect(between).toBe(before);
    },
    patience,
  );

  /** How many reviews came to this, or to anything. */
  function reviews(outcome?: string): Promise<number> {
    return gate.metric('kube_reflex_freeze_check_admission_seconds_count', outcome === undefined ? {} : { outcome });
  }

  it(
    'FC-19 a scale of what is gone when it is judged is refused as an error',
    async () => {
      const path = `${registrations}/mutatingwebhookconfigurations`;
      let isAsked = false;
      const { clientConfig, close } = await startReviewServer(async ({ dryRun }) => {
        isAsked = true;
        if (dryRun !== true) {
          expectCode(200, await site.client.call('DELETE', pathTo('deployments', 'web')));
        }
        return { allowed: true };
      });
      expectCode(201, await site.client.call('POST', path, { body: meddler(clientConfig) }));
      await waitUntil('it is asked', async () => {
        await ask(scale(), true);
        return isAsked;
      });

      const before = await reviews('error');
      const { code } = await ask(scale());
      await site.remove(`${path}/meddler`);
      close();

      expect(await reviews('error')).toBe(before + 1);
      // An API server that is refused what it has in its cache looks again, and then finds out for itself.
      expect([404, 500]).toContain(code);
    },
    patience,
  );

  it('FC-60 of exceptions that match the first by name is counted, and none where nothing is denied', async () => {
    await apply(exceptionOf({}, 'b'), exceptionOf({}, 'a'));
    const unneeded = outcome(await ask(rollout()));
    const counts = [await overrides('a'), await overrides('b')];
    await apply(freezeOf(everything));
    const needed = outcome(await ask(rollout()));
    counts.push(await overrides('a'), await overrides('b'));

    expect([unneeded, needed]).toEqual([passes, passes]);
    expect(counts).toEqual([0, 0, 1, 0]);
  });

  function overrides(exception: string): Promise<number> {
    const labels = { exception_name: exception, policy_type: 'ChangeFreeze', policy_name: 'holiday' };
    return gate.metric('freeze_operator_exception_overrides_total', labels);
  }

  it(
    'a policy that warns lets pass with a warning, one that only watches counts and tells, and one to come is announced',
    async () => {
      await apply(
        freezeOf(everything, { enforcement: 'Warn' }, 'loud'),
        freezeOf(everything, { enforcement: 'Audit' }, 'quiet'),
        freezeOf(everything, { startTime: '2026-12-26T00:00:00Z' }, 'soon'),
      );

      const { code, warnings } = await ask(rollout());
      const told = await waitFor('the Event of the quiet one', async () => {
        const { items = [] } = (await site.client.call('GET', '/apis/events.k8s.io/v1/namespaces/prod/events')).body;
        return items.find(({ reason }) => reason === 'ChangeAudited') as { readonly note?: string } | undefined;
      });

      expect(code).toBe(200);
      expect(warnings).toEqual([
        'not enforced yet: Denied by ChangeFreeze/loud: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
        'ChangeFreeze/soon begins at 2026-12-26T00:00:00Z: ChangeFreeze is active',
      ]);
      expect(told.note).toContain('Denied by ChangeFreeze/quiet');
      for (const policy_name of ['loud', 'quiet']) {
        expect(await gate.metric('kube_reflex_freeze_check_would_deny_total', { policy_name })).toBe(1);
      }
    },
    patience,
  );

  it('a namespace may have its own enforcement by a label', async () => {
    await apply(freezeOf(['CREATE']));

    const trial = await ask(creation('deployments', 'trial'));

    expect([outcome(trial), outcome(await ask(creation()))]).toEqual([passes, refused]);
    expect(trial.warnings).toEqual([
      'not enforced yet: Denied by ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z',
    ]);
  });

  it(
    'the glass is broken by who may bypass this very policy and says why, and by nobody else',
    async () => {
      await grant('developers', [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] }]);
      await grant('oncall', [
        {
          apiGroups: ['freeze-operator.io'],
          resources: ['changefreezes'],
          resourceNames: ['holiday'],
          verbs: ['bypass'],
        },
      ]);
      const reason = { metadata: { annotations: { 'freeze-check.kube-reflex.dev/bypass-reason': 'outage 42' } } };
      await apply(freezeOf(['ROLL_OUT']));
      await waitUntil(
        'the rights count',
        async () => (await askAs(['developers', 'oncall'], rollout(reason), true)).code === 200,
      );

      const silent = await askAs(['developers', 'oncall'], rollout());
      const unentitled = await askAs(['developers'], rollout(reason));
      await apply(freezeOf(['ROLL_OUT'], {}, 'year-end'));
      const byAnother = await askAs(['developers', 'oncall'], rollout(reason));
      await site.removePolicies();
      await apply(freezeOf(['ROLL_OUT']));
      const entitled = await askAs(['developers', 'oncall'], rollout(reason));

      expect([silent, unentitled, byAnother, entitled].map(outcome)).toEqual([refused, refused, refused, passes]);
    },
    patience,
  );

  /** By somebody who has no other rights than these groups have. */
  function askAs(groups: string[], { method, path, call = {} }: Request, dryRun = false): Promise<Reply> {
    const headers = { ...call.headers, 'impersonate-user': 'sre@x', 'impersonate-group': groups };
    return site.client.call(method, path, { ...call, headers, query: dryRun ? { dryRun: 'All' } : {} });
  }

  async function grant(group: string, rules: readonly object[]): Promise<void> {
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: group };
    await apply({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules });
    await apply({
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: group },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: group }],
    });
  }

  it('is refused nothing by the API server', async () => {
    expect(refusedTo(freezeCheck, 'webhook', await settledAudit(site.cluster, site.client))).toEqual([]);
  });
});

const refused = `403 Denied by ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at ${christmas[1]}`;

function outcome({ code, body }: Reply): string {
  const asked = /^admission webhook "[-.\w]+" denied the request: /;
  return code < 300 ? passes : `${code} ${body.message?.replace(asked, '') ?? ''}`;
}

/** Asks about more than freeze-check cares for, as somebody may who writes the registration anew. */
function curious(clientConfig: object): object {
  const rules = [
    { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
    { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/status'] },
  ];
  return registration('curious', { clientConfig, rules, sideEffects: 'None' });
}

function meddler(clientConfig: object): object {
  const rule = { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] };
  return registration('meddler', { clientConfig, rules: [rule], sideEffects: 'NoneOnDryRun' });
}

function registration(name: string, webhook: object): object {
  const common = { failurePolicy: 'Fail', admissionReviewVersions: ['v1'] };
  return { metadata: { name }, webhooks: [{ name: `${name}.kube-reflex.dev`, ...common, ...webhook }] };
}
