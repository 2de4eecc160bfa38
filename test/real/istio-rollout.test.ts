import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { renderFunction } from '../../lib/manifests/function-manifests.ts';
import type { Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { settledAudit } from './audit.ts';
import type { Cluster } from './cluster.ts';
import { startFunction, type RealFunction } from './function.ts';
import { combinations, namespaceLabels, old, recent, tag } from './injection-matrix.ts';
import { outdatedOf } from './injection-oracle.ts';
import {
  clusterNames,
  configMapChanged,
  eager,
  finish,
  namespaceChanged,
  openRolloutSite,
  shipped,
  tell,
  tick,
  usedRights,
  webhooksChanged,
  type RolloutSite,
} from './istio-rollout-site.ts';
import { startIstiod, type Istiod } from './istiod.ts';
import { applyManifest } from './manifests.ts';
import { grantedTo, refusedTo } from './rights.ts';
import { createNamespace, createWorkloads, generations, relabelNamespace, settled } from './workloads.ts';

const settings = { ...eager, ...clusterNames };

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
    await recentPlane.tagAs(tag);
    await recentPlane.tagAs('default');

    const restarted = await expectExactly(async () => {
      await tell(fn, webhooksChanged(`istio-revision-tag-${tag}`));
      await tell(fn, webhooksChanged('istio-revision-tag-default'));
    });

    expect(restarted).toEqual(expect.arrayContaining(['Deployment plain/gateway', 'Deployment rev-tag/silent']));
    expect(restarted).not.toContain('Deployment rev-old/silent');
  });

  it('IR-1 IR-2 IR-5 IR-6 IR-7 restarts exactly what an upgrade of one revision outdates, told five times', async () => {
    await oldPlane.configure('1.28.5');
    await oldPlane.injects('1.28.5');

    const probes = await fn.metric('kube_reflex_istio_rollout_probes_total');
    const restarted = await expectExactly(async () => {
      for (let times = 0; times < 5; times += 1) {
        await tell(fn, configMapChanged(`istio-sidecar-injector-${old}`));
      }
    });
    const asked = (await fn.metric('kube_reflex_istio_rollout_probes_total')) - probes;

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
  });

  it('IR-10 does nothing about a caBundle that istiod writes anew', async () => {
    const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/istio-sidecar-injector-${recent}`;
    const probes = await fn.metric('kube_reflex_istio_rollout_probes_total');
    const other = Buffer.from('another authority').toString('base64');
    const operations = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: other }];
    const headers = { 'content-type': 'application/json-patch+json' };

    const restarted = await expectExactly(async () => {
      expectCode(200, await client.call('PATCH', path, { body: operations, headers }));
      await tell(fn, webhooksChanged(`istio-sidecar-injector-${recent}`));
      await recentPlane.trusted();
      await tell(fn, webhooksChanged(`istio-sidecar-injector-${recent}`));
    });

    expect(restarted).toEqual([]);
    expect(await fn.metric('kube_reflex_istio_rollout_probes_total')).toBe(probes);
  });

  it('IR-17 waits for an istiod that is down and goes on by a tick alone', async () => {
    await recentPlane.stop();
    await recentPlane.configure('1.29.2');
    const { restarted } = await restartsBy(async () => {
      await tell(fn, configMapChanged(`istio-sidecar-injector-${recent}`));
      await tick(fn);
    });
    expect(restarted).toEqual([]);

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
