import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import freezeCheck from '../../index.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import type { Body, Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { readAudit } from '../../../../test/real/parts/audit.ts';
import { workload } from './freeze-requests.ts';
import { openFreezeSite, policies, type FreezeSite, type Person } from './freeze-site.ts';
import type { RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';
import { refusedTo } from '../../../../test/real/support/rights.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;
const deployments = '/apis/apps/v1/namespaces/prod/deployments';
const cronJobs = '/apis/batch/v1/namespaces/prod/cronjobs';
const freezes = `${policies}/changefreezes`;
const dev: Person = { user: 'dev@x' };
const knativeAutoscaler: Person = {
  user: 'system:serviceaccount:knative-serving:controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:knative-serving'],
};
const autoscaler: Person = {
  user: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
};

describe('freeze-check and the real API server', () => {
  let site: FreezeSite;
  let webhook: RealFunction;
  let events: RealFunction;

  beforeAll(async () => {
    site = await openFreezeSite();
    await site.configure();
    webhook = await site.startWebhook();
    events = await site.startEvents(1);
    for (const [name, labels] of Object.entries({ prod: { env: 'prod' }, argocd: {} })) {
      expectCode(201, await site.client.call('POST', '/api/v1/namespaces', { body: { metadata: { name, labels } } }));
    }
    await site.freeze('first');
    await make('probe');
    await waitUntil('the webhook is asked', async () => (await setImage('probe', 'probe:2')).code === 403);
    await site.remove(`${freezes}/first`);
  }, patience);

  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  afterEach(() => site.removePolicies());

  async function make(name: string, fields: object = {}, place = deployments): Promise<Body> {
    return expectCode(201, await create(name, fields, place));
  }

  function create(name: string, fields: object = {}, place = deployments): Promise<Reply> {
    return site.as(dev, 'POST', place, { body: deployment(name, fields) });
  }

  function apply(manifest: AnyManifest): Promise<Body> {
    return applyManifest(site.client, manifest);
  }

  function setImage(name: string, image: string, person = dev): Promise<Reply> {
    const containers = [{ name: 'main', image }];
    return site.merge(`${deployments}/${name}`, { spec: { template: { spec: { containers } } } }, person);
  }

  function scale(name: string, replicas: number, person = dev): Promise<Reply> {
    return site.merge(`${deployments}/${name}/scale`, { spec: { replicas } }, person);
  }

  it('FC-2 refuses a rollout and says who, why, until when and whom to call', async () => {
    await make('web');
    await site.freeze('holiday');

    const { code, body } = await setImage('web', 'web:2');

    expect(code).toBe(403);
    expect(body.message).toMatch(
      /^admission webhook "vworkloads-v1alpha1\.kb\.io" denied the request: Denied by ChangeFreeze\/holiday: Holiday change freeze: Next allowed at 2099-01-01T00:00:00Z: .*Contact: #platform-oncall/,
    );
  });

  it('FC-8 FC-9 refuses from the instant at which a freeze starts until the instant at which it ends', async () => {
    await make('timed');
    const [start, end] = [5_000, 10_000].map((ms) => Date.now() - (Date.now() % 1000) + 1000 + ms) as [number, number];
    await site.freeze('short', {
      startTime: new Date(start).toISOString(),
      endTime: new Date(end).toISOString(),
    });

    const asked: { readonly from: number; readonly to: number; readonly code: number }[] = [];
    for (let [count, from] = [0, 0]; from < end; count += 1) {
      from = Date.now();
      const { code } = await setImage('timed', `timed:${count}`);
      asked.push({ from, to: Date.now(), code });
    }
    const before = asked.filter(({ to }) => to < start);
    const during = asked.filter(({ from, to }) => from >= start && to < end);
    const after = asked.filter(({ from }) => from >= end);

    expect([before, during, after].map((each) => [...new Set(each.map(({ code }) => code))])).toEqual([
      [200],
      [403],
      [200],
    ]);
  });

  it('FC-10 FC-16 refuses a dry run too, and nothing in namespaces that the freeze is not about', async () => {
    await make('rehearsed');
    await make('elsewhere', {}, '/apis/apps/v1/namespaces/argocd/deployments');
    await site.freeze('holiday', { rules: { deny: ['CREATE', 'DELETE'] } });

    const rehearsed = await site.as(dev, 'POST', deployments, { body: deployment('new'), query: { dryRun: 'All' } });
    const elsewhere = await create('free', {}, '/apis/apps/v1/namespaces/argocd/deployments');

    expect([rehearsed.code, elsewhere.code]).toEqual([403, 201]);
  });

  it('FC-17 FC-18 FC-20 FC-21 refuses /scale to people and autoscalers alike, by the labels of the workload', async () => {
    await make('pay', { labels: { app: 'pay' } });
    await make('other');
    const target = { kinds: ['Deployment'], objectSelector: { matchLabels: { app: 'pay' } } };
    await site.freeze('holiday', { target, rules: { deny: ['SCALE'] } });

    const replies = [
      await scale('pay', 3),
      await scale('pay', 3, autoscaler),
      await site.as(knativeAutoscaler, 'PATCH', `${deployments}/pay/scale`, {
        body: [{ op: 'replace', path: '/spec/replicas', value: 3 }],
        headers: { 'content-type': 'application/json-patch+json' },
      }),
      await scale('other', 3),
      await setImage('pay', 'pay:2'),
    ];

    expect(replies.map(({ code }) => code)).toEqual([403, 403, 403, 200, 200]);
  });

  it('FC-22 lets a rollout that is under way go on: the controllers write to /status and to ReplicaSets', async () => {
    const controllers = site.cluster.part('kube-controller-manager');
    await make('rolling');
    // Its controllers stand still, so that all they write on account of the change comes after the count.
    controllers.signal('SIGSTOP');
    expectCode(200, await setImage('rolling', 'rolling:2'));
    await site.freeze('all', { rules: { deny: ['ROLL_OUT', 'SCALE', 'CREATE', 'DELETE'] } });
    const before = await reviews();
    controllers.signal('SIGCONT');

    const observed = await waitFor('its controller reports', async () => {
      const { status } = expectCode(200, await site.client.call('GET', `${deployments}/rolling`));
      const { observedGeneration, updatedReplicas } = (status ?? {}) as Record<string, number | undefined>;
      return observedGeneration === 2 && updatedReplicas !== undefined ? observedGeneration : undefined;
    });
    const images = (await replicaSetsOf('rolling')).map(({ spec }) => JSON.stringify(spec).includes('"rolling:2"'));

    expect(observed).toBe(2);
    expect(images).toContain(true);
    expect(await reviews()).toBe(before);
  });

  /** How many reviews of workloads were sent so far. */
  function reviews(): Promise<number> {
    return webhook.metric('kube_reflex_freeze_check_admission_seconds_count');
  }

  it('FC-23 lets the garbage collector finish a deletion in the foreground', async () => {
    await make('leaving');
    await waitUntil('it has a ReplicaSet', async () => (await replicaSetsOf('leaving')).length > 0);
    await site.freeze('holiday');

    const { code } = await site.as(dev, 'DELETE', `${deployments}/leaving`, {
      body: { propagationPolicy: 'Foreground' },
    });
    await waitUntil('it is gone', async () => (await site.client.call('GET', `${deployments}/leaving`)).code === 404);

    expect(code).toBe(200);
    expect(await replicaSetsOf('leaving')).toEqual([]);
  });

  async function replicaSetsOf(name: string): Promise<readonly Body[]> {
    const query = { labelSelector: `run=${name}` };
    const { items = [] } = (await site.client.call('GET', '/apis/apps/v1/namespaces/prod/replicasets', { query })).body;
    return items;
  }

  it('FC-24 refuses a change that rides along with the removal of a finalizer, not the removal', async () => {
    await make('stuck', { finalizers: ['example.com/hold'] });
    await site.as(dev, 'DELETE', `${deployments}/stuck`);
    await site.freeze('holiday');
    const metadata = { finalizers: [] };

    const containers = [{ name: 'main', image: 'stuck:2' }];
    const both = await site.merge(`${deployments}/stuck`, { metadata, spec: { template: { spec: { containers } } } });
    const alone = await site.merge(`${deployments}/stuck`, { metadata });

    expect([both.code, alone.code]).toEqual([403, 200]);
  });

  it('FC-25 refuses each item of a delete-collection', async () => {
    await make('kept', { labels: { batch: 'yes' } });
    await site.freeze('holiday', { rules: { deny: ['DELETE'] } });

    const { code } = await site.as(dev, 'DELETE', deployments, { query: { labelSelector: 'batch=yes' } });

    expect(code).toBe(403);
    expect((await site.client.call('GET', `${deployments}/kept`)).code).toBe(200);
  });

  it('FC-27 tells GitOps tools in the form that they show', async () => {
    await make('synced');
    await site.freeze('holiday');

    const { body } = await setImage('synced', 'synced:2', {
      user: 'system:serviceaccount:argocd:argocd-application-controller',
      groups: ['system:serviceaccounts:argocd'],
    });

    expect(body.message).toContain('[freeze-operator] sync blocked by holiday until 2099-01-01T00:00:00Z');
  });

  it('FC-57 an exception lets through who is named and in the group, and nobody else', async () => {
    await make('fix');
    await site.freeze('holiday');
    await apply({
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind: 'FreezeException',
      metadata: { name: 'fix' },
      spec: {
        activeFrom: '2020-01-01T00:00:00Z',
        activeTo: '2099-01-01T00:00:00Z',
        target: { kinds: ['Deployment'] },
        allow: ['ROLL_OUT'],
        reason: 'hotfix',
        constraints: { allowedUsers: ['sre@x'], allowedGroups: ['oncall'] },
      },
    });

    const replies = [
      await setImage('fix', 'fix:2'),
      await setImage('fix', 'fix:2', { user: 'sre@x' }),
      await setImage('fix', 'fix:2', { user: 'sre@x', groups: ['oncall'] }),
    ];

    expect(replies.map(({ code }) => code)).toEqual([403, 403, 200]);
  });

  it.each([
    ['Deployment', 'deployments', 'replicasets'],
    ['StatefulSet', 'statefulsets', 'controllerrevisions'],
    ['DaemonSet', 'daemonsets', 'controllerrevisions'],
  ] as const)(
    'lets a %s go back to what it was, as kubectl rollout undo does it, where the freeze says so, and to nothing else',
    async (kind, plural, history) => {
      const path = `/apis/apps/v1/namespaces/prod/${plural}`;
      const body = workload(plural, 'back');
      const { uid = '' } = expectCode(201, await site.client.call('POST', path, { body })).metadata ?? {};
      const first = await revision('web:1');
      expectCode(200, await change('web:2'));
      await revision('web:2');
      const target = { kinds: [kind], namespaceSelector: { matchLabels: { env: 'prod' } } };
      const rules = { deny: ['ROLL_OUT', 'SCALE'] };

      await site.freeze('strict', { target, rules });
      const closed = await undo();
      await site.remove(`${freezes}/strict`);
      await site.freeze('lenient', { target, rules: { ...rules, allowRollback: true } });
      const replies = [closed, await change('web:3'), await change('web:1', { minReadySeconds: 30 }), await undo()];
      // Both are of its history by now; what was refused above was refused for what came along.
      replies.push(await change('web:2'), await change('web:1'));
      const { spec } = expectCode(200, await site.client.call('GET', `${path}/back`));

      expect(replies.map(({ code }) => code)).toEqual([403, 403, 403, 200, 200, 200]);
      expect(JSON.stringify(spec)).toContain('"web:1"');

      /** What its controller noted of the template with this image. */
      function revision(image: string): Promise<Revision> {
        return waitFor(`its controller notes ${image}`, async () => {
          const { items = [] } = (await site.client.call('GET', `/apis/apps/v1/namespaces/prod/${history}`)).body;
          const owned = items.filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.uid === uid));
          return owned.find((each) => JSON.stringify(each).includes(`"${image}"`)) as Revision | undefined;
        });
      }

      function change(image: string, more = {}): Promise<Reply> {
        const containers = [{ name: 'main', image, resources: { requests: { cpu: '500m' } } }];
        return site.merge(`${path}/back`, { spec: { ...more, template: { spec: { containers } } } });
      }

      function undo(): Promise<Reply> {
        const call =
          history === 'replicasets'
            ? { body: templatePatch(first), headers: { 'content-type': 'application/json-patch+json' } }
            : { body: first.data, headers: { 'content-type': 'application/strategic-merge-patch+json' } };
        return site.as(dev, 'PATCH', `${path}/back`, call);
      }
    },
    patience,
  );

  it('FC-12 lets a namespace go', async () => {
    const place = '/api/v1/namespaces/leaving';
    const body = { metadata: { name: 'leaving', labels: { env: 'prod' } } };
    expectCode(201, await site.client.call('POST', '/api/v1/namespaces', { body }));
    await make('inside', {}, '/apis/apps/v1/namespaces/leaving/deployments');
    await site.freeze('holiday', { rules: { deny: ['DELETE'] } });

    await site.client.call('DELETE', place);

    await waitUntil('it is gone', async () => (await site.client.call('GET', place)).code === 404);
  });

  it('FC-26 FC-62 FC-77 suspends CronJobs under a freeze of CronJobs; after a kill another process gives them back', async () => {
    const made = expectCode(201, await site.client.call('POST', cronJobs, { body: cronJob('report') }));
    const target = { kinds: ['CronJob'], namespaceSelector: { matchLabels: { env: 'prod' } } };
    await site.freeze('holiday', { target, behavior: { suspendCronJobs: true } });

    const held = [await site.tick(events), (await cronJobNow()).spec?.['suspend']];
    const byUser = await site.merge(`${cronJobs}/report`, { spec: { suspend: false } });
    events.running.signal('SIGKILL');
    await site.remove(`${freezes}/holiday`);
    events = await site.startEvents(2);
    const released = await site.tick(events);

    expect(held).toEqual([204, true]);
    expect(byUser.code).toBe(403);
    expect(released).toBe(204);
    const now = await cronJobNow();
    expect([now.spec, now.metadata?.annotations]).toEqual([made.spec, made.metadata?.annotations]);
  });

  async function cronJobNow(): Promise<Body> {
    return expectCode(200, await site.client.call('GET', `${cronJobs}/report`));
  }

  it('down under failurePolicy Fail: workloads wait, what repairs a cluster does not, and the way out is one command', async () => {
    await make('waiting');
    await webhook.running.stop();

    const down = await setImage('waiting', 'waiting:2');
    const vital = await create('vital', {}, '/apis/apps/v1/namespaces/kube-system/deployments');
    const own = await create('own', {}, `/apis/apps/v1/namespaces/${standardInstallation.namespace}/deployments`);
    const configuration =
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kube-reflex-freeze-check';
    await site.remove(configuration);
    const open = await waitFor('nobody is asked', async () => {
      const reply = await setImage('waiting', 'waiting:3');
      return reply.code === 200 ? reply : undefined;
    });
    await site.configure();
    webhook = await site.startWebhook();
    await site.freeze('holiday');
    await waitUntil('the webhook is asked again', async () => (await setImage('waiting', 'waiting:4')).code === 403);

    expect(down.code).toBe(500);
    expect(down.body.message).toContain('failed calling webhook "vworkloads-v1alpha1.kb.io"');
    expect([vital.code, own.code, open.code]).toEqual([201, 201, 200]);
  });

  it('is refused nothing by the API server', () => {
    const audit = readAudit(site.cluster);

    expect([...refusedTo(freezeCheck, 'events', audit), ...refusedTo(freezeCheck, 'webhook', audit)]).toEqual([]);
  });
});

/** A ReplicaSet, or a ControllerRevision, whose data is a patch. */
interface Revision extends Body {
  readonly spec?: {
    readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } };
  } & Record<string, unknown>;
}

/** To the template of a ReplicaSet, without the label that is the ReplicaSet's own. */
function templatePatch({ spec }: Revision): readonly object[] {
  const { 'pod-template-hash': _hash, ...labels } = spec?.template.metadata.labels ?? {};
  const value = { ...spec?.template, metadata: { ...spec?.template.metadata, labels } };
  return [
    { op: 'replace', path: '/spec/template', value },
    { op: 'replace', path: '/metadata/annotations', value: { 'deployment.kubernetes.io/revision': '2' } },
  ];
}

function deployment(name: string, metadata: object = {}): object {
  const containers = [{ name: 'main', image: `${name}:1` }];
  const pods = { run: name };
  return {
    metadata: { name, ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: pods },
      template: { metadata: { labels: pods }, spec: { containers } },
    },
  };
}

function cronJob(name: string): object {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'report:1' }] } };
  return { metadata: { name }, spec: { schedule: '0 3 1 1 *', jobTemplate: { spec: { template } } } };
}
