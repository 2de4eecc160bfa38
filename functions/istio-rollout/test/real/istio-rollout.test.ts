import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../index.ts';
import { lastModified } from '../../mesh/last-modified.ts';
import { commands } from '../../names.ts';
import { renderFunction } from '../../../../lib/install/manifests/function-manifests.ts';
import type { Body, Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { callsOf, settledAudit } from '../../../../test/real/parts/audit.ts';
import type { Cluster } from '../../../../test/real/parts/cluster.ts';
import { startFunction, usernameOf, type RealFunction } from '../../../../test/real/support/function.ts';
import { combinations, namespaceLabels, old, recent, tag } from './injection-matrix.ts';
import { outdatedOf } from './injection-oracle.ts';
import {
  clusterNames,
  configMapChanged,
  eager,
  eventsOf,
  finish,
  namespaceChanged,
  openRolloutSite,
  shipped,
  stateIn,
  statePath,
  statusOf,
  tell,
  tick,
  usedRights,
  webhooksChanged,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { proxyImage, startIstiod, type Istiod } from './istiod.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { grantedTo, refusedTo } from '../../../../test/real/support/rights.ts';
import { waitFor, waitUntil } from '../../../../test/real/parts/wait.ts';
import {
  createNamespace,
  createWorkloads,
  generations,
  identify,
  mergePatch,
  relabelNamespace,
  settled,
} from '../../../../test/real/support/workloads.ts';

const settings = { ...eager, ...clusterNames };
const webhooksPath = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const account = usernameOf('istio-rollout', 'events');
const probesTotal = 'kube_reflex_istio_rollout_probes_total';

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('with real control planes of two revisions', () => {
  let site: RolloutSite;
  let cluster: Cluster;
  let client: Client;
  let fn: RealFunction;
  let oldPlane: Istiod;
  let recentPlane: Istiod;

  async function start(): Promise<void> {
    fn = await startFunction(cluster, shipped, { port: 0, environment: settings });
  }

  /** The workloads that were restarted, and whether any of them more than once. */
  async function restartsBy(
    work: () => Promise<void>,
  ): Promise<{ restarted: readonly string[]; twice: readonly string[] }> {
    const before = await generations(client);
    await work();
    await settled(client, combinations);
    const steps = [...(await generations(client))].map(
      ([identity, now]) => [identity, now - (before.get(identity) ?? 0)] as const,
    );
    return {
      restarted: steps
        .filter(([, step]) => step > 0)
        .map(([identity]) => identity)
        .sort(),
      twice: steps.filter(([, step]) => step > 1).map(([identity]) => identity),
    };
  }

  async function expectExactly(trigger: () => Promise<void>): Promise<readonly string[]> {
    const expected = [...(await outdatedOf(client, combinations))].sort();
    const { restarted, twice } = await restartsBy(async () => {
      await trigger();
      await finish(fn);
    });
    expect(restarted).toEqual(expected);
    expect(twice).toEqual([]);
    return restarted;
  }

  async function webhooksNamed(name: string): Promise<Body> {
    return expectCode(200, await client.call('GET', `${webhooksPath}/${name}`));
  }

  /** The notes of the Events with a reason, by what they are about. */
  async function notesOf(reason: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const told = Map.groupBy(await eventsOf(client, reason), ({ regarding }) => identify(regarding));
    return Object.fromEntries([...told].map(([identity, events]) => [identity, events.map(({ note }) => note)]));
  }

  /** One more scan of a namespace where nothing has changed. */
  async function scanAgain(namespace: string): Promise<void> {
    const labels = { trigger: 'command' };
    const scans = await fn.metric('kube_reflex_istio_rollout_scans_total', labels);
    await mergePatch(client, statePath, { metadata: { annotations: { [commands.scan]: namespace } } });
    await waitUntil('it is scanned', async () => {
      await tick(fn);
      return (await fn.metric('kube_reflex_istio_rollout_scans_total', labels)) > scans;
    });
  }

  beforeAll(async () => {
    site = await openRolloutSite();
    ({ cluster, client } = site);
    [oldPlane, recentPlane] = await Promise.all([
      startIstiod(cluster, client, { revision: old, tag: '1.28.4', slot: 0 }),
      startIstiod(cluster, client, { revision: recent, tag: '1.29.0', slot: 1, native: true }),
    ]);
    await oldPlane.tagAs(tag);
    await oldPlane.tagAs('default');
    await Promise.all(Object.entries(namespaceLabels).map(([name, labels]) => createNamespace(client, name, labels)));
    await createWorkloads(client, combinations);
    for (const manifest of renderFunction(istioRollout).manifests) {
      if (manifest.kind.startsWith('ValidatingAdmissionPolicy')) {
        await applyManifest(client, manifest);
      }
    }
    await start();
    await finish(fn);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  it(`begins with ${combinations.length} combinations, of which none is outdated`, async () => {
    expect(combinations.length).toBeGreaterThanOrEqual(200);
    expect(await outdatedOf(client, combinations)).toEqual(new Set());
    expect(new Set((await generations(client)).values())).toEqual(new Set([1]));
  });

  it('IR-8 IR-9 restarts exactly what a moved tag outdates, the gateway of the default tag included', async () => {
    const tags = [tag, 'default'].map((name) => `istio-revision-tag-${name}`);
    const before = await Promise.all(tags.map(webhooksNamed));
    await recentPlane.tagAs(tag);
    await recentPlane.tagAs('default');
    const after = await Promise.all(tags.map(webhooksNamed));

    const restarted = await expectExactly(async () => {
      await tell(fn, webhooksChanged(`istio-revision-tag-${tag}`));
      await tell(fn, webhooksChanged('istio-revision-tag-default'));
    });

    expect(restarted).toEqual(expect.arrayContaining(['Deployment plain/gateway', 'Deployment rev-tag/silent']));
    expect(restarted).not.toContain('Deployment rev-old/silent');
    // They are the same objects, which say otherwise now.
    expect(after.map(({ metadata }) => metadata?.uid)).toEqual(before.map(({ metadata }) => metadata?.uid));
    expect([before, after].map((all) => all.map(({ metadata }) => metadata?.labels?.['istio.io/rev']))).toEqual([
      [old, old],
      [recent, recent],
    ]);
  });

  it('IR-1 IR-2 IR-5 IR-6 IR-7 restarts exactly what an upgrade of one revision outdates, told five times', async () => {
    await oldPlane.configure('1.28.5');
    await oldPlane.injects('1.28.5');

    const probes = await fn.metric(probesTotal);
    const restarted = await expectExactly(async () => {
      for (let times = 0; times < 5; times += 1) {
        await tell(fn, configMapChanged(`istio-sidecar-injector-${old}`));
      }
    });
    const asked = (await fn.metric(probesTotal)) - probes;

    expect(restarted).toEqual(expect.arrayContaining(['Deployment rev-old/asks-recent', 'StatefulSet rev-old/silent']));
    expect(asked).toBeLessThanOrEqual(combinations.length);
    expect(restarted).not.toContain('Deployment both/silent');
    expect(restarted).not.toContain('Deployment disabled/asks-old');
  });

  it('IR-11 IR-22 takes native sidecars for what they are, and namesakes of other kinds for others', async () => {
    await recentPlane.configure('1.29.1');
    await recentPlane.injects('1.29.1');

    const restarted = await expectExactly(() => tell(fn, configMapChanged(`istio-sidecar-injector-${recent}`)));

    expect(restarted).toEqual(
      expect.arrayContaining([
        'Deployment rev-recent/silent',
        'StatefulSet rev-recent/silent',
        'DaemonSet rev-recent/silent',
      ]),
    );
    expect(restarted).not.toContain('Deployment rev-recent/custom-proxy');
  });

  it('IR-3 IR-4 IR-37 IR-39 follows Namespaces that change their labels', async () => {
    const seen = (await settledAudit(cluster, client)).length;
    await relabelNamespace(client, 'rev-recent', { 'istio.io/rev': old });
    await relabelNamespace(client, 'plain', { 'istio-injection': 'enabled' });
    await relabelNamespace(client, 'rev-tag', { 'istio.io/rev': 'nowhere' });

    const restarted = await expectExactly(async () => {
      for (const name of ['rev-recent', 'plain', 'rev-tag']) {
        await tell(fn, namespaceChanged(name));
      }
    });

    expect(restarted).toEqual(expect.arrayContaining(['Deployment rev-recent/silent', 'Deployment plain/silent']));
    expect(restarted.filter((identity) => identity.includes(' rev-tag/'))).toEqual([]);
    const missing = `missing: proxy none, expected ${proxyImage('1.29.1')}`;
    expect(await notesOf('ProxyOutdated')).toMatchObject({ 'Deployment plain/silent': [missing] });

    await scanAgain('rev-tag');
    await scanAgain('rev-tag');
    const lost = combinations.filter(({ namespace }) => namespace === 'rev-tag').map(identify);
    const calls = (await settledAudit(cluster, client)).slice(seen);
    const inThere = calls.filter(({ objectRef }) => objectRef?.namespace === 'rev-tag');
    expect(await notesOf('UnknownRevision')).toMatchObject(
      Object.fromEntries(lost.map((identity) => [identity, ['UnknownRevision: nowhere']])),
    );
    // The same Event again would have the same name: only who counts the requests can tell that it was told once.
    expect(callsOf(account, inThere)['create events']).toBe(lost.length);
  });

  it('IR-10 does nothing about a caBundle that istiod writes anew when it starts, and takes it for no change', async () => {
    const name = `istio-sidecar-injector-${recent}`;
    const probes = await fn.metric(probesTotal);
    const { [name]: known } = (await stateIn(client)).webhooks;
    const other = Buffer.from('another authority').toString('base64');
    const operations = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: other }];
    const headers = { 'content-type': 'application/json-patch+json' };

    const restarted = await expectExactly(async () => {
      await recentPlane.stop(); // it would write its own before anybody has seen the other one
      expectCode(200, await client.call('PATCH', `${webhooksPath}/${name}`, { body: operations, headers }));
      await tell(fn, webhooksChanged(name));
      await tick(fn);
      await recentPlane.start();
      await recentPlane.trusted();
      await tell(fn, webhooksChanged(name));
    });

    expect(restarted).toEqual([]);
    expect(await fn.metric(probesTotal)).toBe(probes);
    expect(lastModified(await webhooksNamed(name))).toBeGreaterThan(known?.changedAt ?? Infinity);
    expect((await stateIn(client)).webhooks[name]).toEqual(known);
  });

  it('IR-17 asks an istiod that is down in vain, and goes on by a tick alone when it is up', async () => {
    await recentPlane.stop();
    await recentPlane.configure('1.29.2');
    const failed = await fn.metric(probesTotal, { result: 'failed' });
    const { restarted } = await restartsBy(async () => {
      await tell(fn, configMapChanged(`istio-sidecar-injector-${recent}`));
      const { reasons, lastError } = await waitFor('istiod was asked in vain', async () => {
        await tick(fn);
        const { pending } = await statusOf(fn);
        return pending?.lastError === undefined ? undefined : pending;
      });
      expect(reasons).toEqual([`ConfigMap istio-system/istio-sidecar-injector-${recent}`]);
      expect(lastError).toContain('connection refused');
    });
    expect(restarted).toEqual([]);
    expect(await fn.metric(probesTotal, { result: 'failed' })).toBeGreaterThan(failed);

    // The next process knows nothing but the state, and does nothing before the oracle has looked.
    await fn.running.stop();
    await recentPlane.start();
    await recentPlane.injects('1.29.2');
    const later = await expectExactly(async () => {
      await start();
      await tick(fn);
    });
    expect(later).toContain('Deployment enabled/silent');
  });

  it('did all this with the rights that it ships with, without a watch, and never tried for more', async () => {
    const audit = await settledAudit(cluster, client);
    const granted = new Set(grantedTo(istioRollout, 'events', {}));

    expect(refusedTo(istioRollout, 'events', audit)).toEqual([]);
    expect(usedRights(audit, {}).filter((right) => !granted.has(right))).toEqual([]);
    expect([...granted].filter((right) => right.startsWith('watch '))).toEqual([]);
  });
});
