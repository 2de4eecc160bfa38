import { afterEach, describe, expect, it } from '@jest/globals';
import { applications } from '../hold/application.ts';
import { helmReleases, kustomizations } from '../hold/flux.ts';
import freezeCheck from '../index.ts';
import { changeFreezes } from '../policy.ts';
import { cronJobs, deployments, namespaces, pods, validatingWebhooks } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { configOf } from '../../../lib/install/manifests/installed.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { webhookConfigurations } from '../../../lib/install/manifests/webhook.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { application, cronJob, freeze, namespaceNamed, pausing, suspending } from './objects.ts';
import { openWorld, type World } from './world.ts';
import { deploymentsOf, install, leaving, usersView } from '../../../test/release/cluster.ts';

const { namespace } = standardInstallation;
const serviceAccounts = { group: '', plural: 'serviceaccounts' };
const opened: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

describe('freeze-check leaves', () => {
  const freezing = ['2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'] as const;

  async function open() {
    const world = await openWorld({ at: '2026-12-25T11:00:00Z', kinds: [applications, kustomizations, helmReleases] });
    opened.push(() => world.close());
    await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
    await world.create(namespaces, namespaceNamed('argocd', {}));
    await world.create(cronJobs, cronJob('report'));
    await world.create(cronJobs, cronJob('off', true));
    await world.create(applications, application('shop', { prune: true }));
    await world.create(kustomizations, {
      metadata: { name: 'apps', namespace: 'argocd' },
      spec: { interval: '5m' },
    } as KubeObject);
    await world.create(changeFreezes, freeze('xmas', freezing, { behavior: { ...suspending, ...pausing } }));
    const before = view(world);
    await install(world.sandbox, freezeCheck);
    return { world, before };
  }

  function suspended({ get }: World): boolean | undefined {
    return get(cronJobs, 'report', 'prod').spec.suspend;
  }

  function automated({ get }: World): unknown {
    return get(applications, 'shop', 'argocd').spec?.syncPolicy?.automated;
  }

  function view({ sandbox }: World): Record<string, object> {
    return usersView(sandbox, freezeCheck);
  }

  it('in the middle of a freeze: CronJobs, Applications and Kustomizations run as before, policies stay', async () => {
    const { world, before } = await open();
    const replica = await world.replica({ name: 'freeze-check' });
    await replica.tick();
    const held = suspended(world);
    await replica.close();

    const first = await leaving(world.sandbox, freezeCheck);
    const second = await leaving(world.sandbox, freezeCheck);

    expect(held).toBe(true);
    expect(first.remains).toEqual([]);
    expect(view(world)).toEqual(before);
    expect(world.get(changeFreezes, 'xmas')).toBeDefined();
    expect(second).toEqual({ steps: [], remains: [] });
  });

  it('half-way through suspending, after a death of the function', async () => {
    const { world, before } = await open();
    const replica = await world.replica({ name: 'freeze-check' });
    world.sandbox.faults.add({
      user: replica.user,
      verb: 'patch',
      resource: 'applications',
      effect: { do: 'cut', when: 'before' },
    });
    await replica.tick();
    replica.die();
    const half = { suspended: suspended(world), automated: automated(world) };

    await leaving(world.sandbox, freezeCheck);

    expect(half).toEqual({ suspended: true, automated: { prune: true } });
    expect(view(world)).toEqual(before);
  });

  it('and nobody asks its webhooks any more before anything of it stops', async () => {
    const { world } = await open();
    const gone: string[] = [];
    world.sandbox.api.subscribe(
      validatingWebhooks,
      ({ type, object }) => type === 'DELETED' && gone.push(object.metadata?.name ?? ''),
    );
    world.sandbox.api.subscribe(
      deployments,
      ({ type, object }) => type === 'DELETED' && gone.push(object.metadata?.name ?? ''),
    );

    await leaving(world.sandbox, freezeCheck);

    expect(gone.slice(-2).sort()).toEqual(['freeze-check', 'freeze-check-webhook']);
    expect(gone.length).toBeGreaterThan(2);
    expect(world.sandbox.api.list(validatingWebhooks)).toEqual([]);
  });

  it('and takes back once more what an ending pod did at its drain', async () => {
    const { world, before } = await open();
    const replica = await world.replica({ name: 'freeze-check' });
    const labels = { 'app.kubernetes.io/name': 'freeze-check', 'app.kubernetes.io/part-of': 'kube-reflex' };
    await world.sandbox.api.create(serviceAccounts, { metadata: { name: 'default', namespace } });
    const pod = {
      metadata: { name: 'freeze-check-1', namespace, labels },
      spec: { containers: [{ name: 'f', image: 'f' }] },
    };
    await world.create(pods, pod);

    const left = leaving(world.sandbox, freezeCheck);
    await until(() => deploymentsOf(world.sandbox).length === 0, 'its workloads are deleted');
    await replica.tick();
    const again = suspended(world);
    await replica.close();
    await world.sandbox.api.remove(pods, { name: 'freeze-check-1', namespace }, { gracePeriodSeconds: 0 });

    expect(again).toBe(true);
    expect((await left).remains).toEqual([]);
    expect(view(world)).toEqual(before);
  });

  it('and says so where something installs it again', async () => {
    const { world } = await open();
    const { api } = world.sandbox;
    const stop = api.subscribe(deployments, ({ type, object }) => {
      const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata ?? {};
      if (type === 'DELETED') {
        void api.create(deployments, { ...object, metadata });
      }
    });

    const { remains } = await leaving(world.sandbox, freezeCheck);
    stop();

    expect(remains).toContainEqual(expect.stringMatching(/^Deployment freeze-check is back: .* Argo CD or Flux/));
  });

  it('and leaves what others have in the same webhook configuration', async () => {
    const { world } = await open();
    const admissions = freezeCheck.admit?.(configOf(freezeCheck, {}), { namespace }) ?? [];
    const [configuration] = webhookConfigurations('freeze-check', admissions, standardInstallation);
    const name = configuration?.metadata.name ?? '';
    const theirs = {
      name: 'theirs.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: 'https://example.com/', caBundle: Buffer.from('x').toString('base64') },
    };
    await world.edit(validatingWebhooks, { name }, (object) => ({
      ...object,
      webhooks: [theirs, ...(object.webhooks ?? [])],
    }));

    await leaving(world.sandbox, freezeCheck);

    expect(world.get(validatingWebhooks, name).webhooks?.map((webhook) => webhook.name)).toEqual([theirs.name]);
  });
});
