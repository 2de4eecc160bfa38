import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import freezeCheck from '../../index.ts';
import { kubeconfigAccess } from '../../../../lib/kube/access.ts';
import type { Running } from '../../../../lib/runtime/main.ts';
import { renderFunction } from '../../../../lib/install/manifests/function-manifests.ts';
import { clusterName, partName } from '../../../../lib/function/names.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import type { Body, Call, Reply } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { cronJob } from '../objects.ts';
import { binaryEvent, send, startApp } from '../../../../test/support/http.ts';
import { openFreezeSite, policies, type FreezeSite } from './freeze-site.ts';
import { accountKubeconfig } from '../../../../test/real/support/function.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;
const daemonSets = '/apis/apps/v1/namespaces/prod/daemonsets';
const target = { kinds: ['DaemonSet', 'CronJob'], namespaceSelector: { matchLabels: { env: 'prod' } } };

describe('freeze-check when something fails', () => {
  let site: FreezeSite;

  beforeAll(async () => {
    site = await openFreezeSite({ parts: [] });
    await site.configure();
    await site.startWebhook();
    const body = { metadata: { name: 'prod', labels: { env: 'prod' } } };
    expectCode(201, await site.client.call('POST', '/api/v1/namespaces', { body }));
    await site.freeze('holiday', { target, rules: { deny: ['CREATE'] } });
    await waitUntil('the webhook is asked', async () => (await change()).code === 403);
  }, patience);

  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  afterEach(async () => {
    await applyManifest(site.client, roleOfWebhook());
    await waitUntil('all is well again', async () => (await change()).code === 403);
  });

  /** Something that the freeze refuses, in a dry run if it may pass. */
  function change(query: Call['query'] = {}): Promise<Reply> {
    const labels = { app: 'agent' };
    const spec = { containers: [{ name: 'main', image: 'agent:1' }] };
    const body = {
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    };
    return site.as({ user: 'dev@x' }, 'POST', daemonSets, { body, query });
  }

  /** The first refusal that is not of the freeze. */
  function failure(): Promise<Body> {
    return waitFor('another answer', async () => {
      const { code, body } = await change();
      return code === 403 && body.message?.includes('Denied by') === true ? undefined : { ...body, code };
    });
  }

  it.each([
    ['FC-13', 'the namespace', 'namespaces', 'get namespaces prod'],
    ['FC-61', 'the freezes', 'changefreezes', 'list changefreezes'],
    ['FC-61', 'the windows', 'maintenancewindows', 'list maintenancewindows'],
  ])('%s refuses with 500 while %s can not be read, and says why', async (_case, _what, resource, why) => {
    await withhold(resource);

    expect(await failure()).toMatchObject({
      code: 500,
      message: expect.stringContaining(`freeze-check: could not ${why}`),
    });
  });

  /** Takes from the webhook the right to read these, and leaves it all others. */
  async function withhold(resource: string): Promise<void> {
    const { rules = [], ...role } = roleOfWebhook();
    const others = (rules as { resources: string[] }[]).map(({ resources, ...rule }) => ({
      ...rule,
      resources: resources.filter((each) => each !== resource),
    }));
    await applyManifest(site.client, { ...role, rules: others.filter(({ resources }) => resources.length > 0) });
  }

  it('FC-61 refuses what an exception would let pass while the exceptions can not be read', async () => {
    const times = { activeFrom: '2020-01-01T00:00:00Z', activeTo: '2099-01-01T00:00:00Z' };
    await applyManifest(site.client, {
      apiVersion: 'freeze-operator.io/v1alpha1',
      kind: 'FreezeException',
      metadata: { name: 'hotfix' },
      spec: { ...times, target: { kinds: ['DaemonSet'] }, allow: ['CREATE'], reason: 'hotfix' },
    });
    const excepted = await change({ dryRun: 'All' });
    await withhold('freezeexceptions');

    const refused = await waitFor('another answer', async () => {
      const reply = await change({ dryRun: 'All' });
      return reply.code === excepted.code ? undefined : reply;
    });
    await site.remove(`${policies}/freezeexceptions/hotfix`);

    expect([excepted.code, refused.code]).toEqual([201, 403]);
    expect(refused.body.message).toContain('Denied by ChangeFreeze/holiday');
  });

  it('follows a clock that jumps: objects are held and given back by what it shows, forth and back', async () => {
    const path = '/apis/batch/v1/namespaces/prod/cronjobs';
    await site.remove(`${policies}/changefreezes/holiday`);
    const made = await waitFor('a CronJob is let in', async () => {
      const { code, body } = await site.client.call('POST', path, { body: cronJob('report') });
      return code === 201 ? body : undefined;
    });
    const [startTime, endTime] = ['2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'];
    await site.freeze('christmas', { startTime, endTime, target, behavior: { suspendCronJobs: true } });
    let time = new Date('2026-12-23T00:00:00Z');
    const app = await appWithClock(() => time);

    const suspended: unknown[] = [];
    for (const jump of [
      '2026-12-25T00:00:00Z',
      '2026-12-01T00:00:00Z',
      '2026-12-24T00:00:00Z',
      '2031-01-01T00:00:00Z',
    ]) {
      time = new Date(jump);
      await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
      suspended.push(expectCode(200, await site.client.call('GET', `${path}/report`)).spec?.['suspend']);
    }
    const { spec, metadata } = expectCode(200, await site.client.call('GET', `${path}/report`));
    await app.close();
    await site.freeze('holiday', { target, rules: { deny: ['CREATE'] } });

    expect(suspended).toEqual([true, false, true, false]);
    expect([spec, metadata?.annotations]).toEqual([made.spec, made.metadata?.annotations]);
  });

  /** The acting half in this process, by its own account, with a clock to turn. */
  async function appWithClock(now: () => Date): Promise<Running> {
    const kubeconfig = await accountKubeconfig(site.cluster, { name: 'freeze-check', part: 'events' });
    return startApp(freezeCheck, {
      access: kubeconfigAccess(readFileSync(kubeconfig, 'utf8')),
      environment: { POD_NAMESPACE: standardInstallation.namespace, ROLE: 'events' },
      now,
    });
  }
});

/** What the webhook may read. */
function roleOfWebhook(): AnyManifest {
  const name = clusterName(partName('freeze-check', 'webhook'));
  const { manifests } = renderFunction(freezeCheck);
  const role = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name);
  if (role === undefined) {
    throw new Error('the webhook ships without rights');
  }
  return role;
}
