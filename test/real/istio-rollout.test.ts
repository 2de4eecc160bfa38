import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../functions/istio-rollout/index.ts';
import type { Status } from '../../functions/istio-rollout/render.ts';
import { parseConfig } from '../../lib/function/config.ts';
import { renderFunction } from '../../lib/manifests/function-manifests.ts';
import { standardSite } from '../../lib/manifests/manifest.ts';
import { createClient, type Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { binaryEvent, send, type Event } from '../http.ts';
import { callsOf, readAudit } from './audit.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { installRights, startFunction, usernameOf, type RealFunction, type Shipped } from './function.ts';
import { combinations, namespaceLabels, old, recent, tag } from './injection-matrix.ts';
import { outdatedOf } from './injection-oracle.ts';
import { startIstiod, type Istiod } from './istiod.ts';
import { applyManifest } from './manifests.ts';
import { addNodes } from './nodes.ts';
import { createNamespace, createWorkloads, generations, relabelNamespace, settled } from './workloads.ts';

const shipped: Shipped = {
  definition: istioRollout,
  folder: join(import.meta.dirname, '../../functions/istio-rollout'),
};

const settings = {
  NODE_OPTIONS: `--require ${join(import.meta.dirname, 'cluster-names.cjs')}`,
  ISTIOD_CONFIG_READ_DELAY: '1s',
  COOLDOWN: '0s',
  MAX_IN_FLIGHT: '100',
  MAX_IN_FLIGHT_PER_NAMESPACE: '100',
};

function configMapEvent(revision: string): Event {
  const name = `istio-sidecar-injector-${revision}`;
  return {
    type: 'dev.knative.apiserver.ref.update',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'istio-system',
    name,
  };
}

function webhooksEvent(name: string): Event {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return {
    type: 'dev.knative.apiserver.ref.update',
    apiVersion,
    kind: 'MutatingWebhookConfiguration',
    namespace: '',
    name,
  };
}

function namespaceEvent(name: string): Event {
  return { type: 'dev.knative.apiserver.ref.update', apiVersion: 'v1', kind: 'Namespace', namespace: '', name };
}

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('with real control planes of two revisions', () => {
  let cluster: Cluster;
  let client: Client;
  let fn: RealFunction;
  let oldPlane: Istiod;
  let recentPlane: Istiod;

  async function tell(event: Event): Promise<void> {
    expect((await send(fn.url, binaryEvent(event))).status).toBe(204);
  }

  async function tick(): Promise<void> {
    await tell({ type: 'dev.knative.sources.ping' });
  }

  /** Ticks until the function has nothing left to do. */
  async function finish(): Promise<void> {
    await tick();
    while (await isBusy()) {
      await pause(200);
      await tick();
    }
  }

  async function isBusy(): Promise<boolean> {
    const { pending, counts } = JSON.parse((await send(fn.url, { method: 'GET', path: '/status' })).body) as Status;
    return pending !== undefined || counts.queued + counts.inflight > 0;
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
      await finish();
    });
    expect(restarted).toEqual(expected);
    expect(twice).toEqual([]);
    return restarted;
  }

  beforeAll(async () => {
    cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
    client = createClient(cluster.access);
    await addNodes(cluster, ['node-1']);
    await createNamespace(client, 'istio-system', {});
    [oldPlane, recentPlane] = await Promise.all([
      startIstiod(cluster, client, { revision: old, tag: '1.28.4', slot: 0 }),
      startIstiod(cluster, client, { revision: recent, tag: '1.29.0', slot: 1, native: true }),
    ]);
    await oldPlane.tagAs(tag);
    await oldPlane.tagAs('default');
    for (const [name, labels] of Object.entries(namespaceLabels)) {
      await createNamespace(client, name, labels);
    }
    await createWorkloads(client, combinations);
    await installRights(cluster, shipped);
    for (const manifest of renderFunction(istioRollout).manifests) {
      if (manifest.kind.startsWith('ValidatingAdmissionPolicy')) {
        await applyManifest(client, manifest);
      }
    }
    fn = await startFunction(cluster, shipped, { port: 0, environment: settings });
    await finish();
  });
  afterAll(async () => {
    client.close();
    await cluster.stop();
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
      await tell(webhooksEvent(`istio-revision-tag-${tag}`));
      await tell(webhooksEvent('istio-revision-tag-default'));
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
        await tell(configMapEvent(old));
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

    const restarted = await expectExactly(() => tell(configMapEvent(recent)));

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
        await tell(namespaceEvent(name));
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
      await tell(webhooksEvent(`istio-sidecar-injector-${recent}`));
      await recentPlane.trusted();
      await tell(webhooksEvent(`istio-sidecar-injector-${recent}`));
    });

    expect(restarted).toEqual([]);
    expect(await fn.metric('kube_reflex_istio_rollout_probes_total')).toBe(probes);
  });

  it('IR-17 waits for an istiod that is down and goes on by a tick alone', async () => {
    await recentPlane.stop();
    await recentPlane.configure('1.29.2');
    const { restarted } = await restartsBy(async () => {
      await tell(configMapEvent(recent));
      await tick();
    });
    expect(restarted).toEqual([]);

    // The next process knows nothing but the state, and does nothing before the oracle has looked.
    await fn.running.stop();
    await recentPlane.start();
    await recentPlane.injects('1.29.2');
    const later = await expectExactly(async () => {
      fn = await startFunction(cluster, shipped, { port: 0, environment: settings });
      await tick();
    });
    expect(later).toContain('Deployment enabled/silent');
  });

  it('did all this with the rights that it ships with, without a watch, and never tried for more', () => {
    const events = readAudit(cluster).filter(({ user }) => user.username === usernameOf('istio-rollout', 'events'));
    const granted = new Set(
      (istioRollout.permissions?.(parseConfig(istioRollout.config, {}), standardSite) ?? []).flatMap(
        ({ verbs, resources }) => verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
      ),
    );

    expect(events.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    expect(
      Object.keys(callsOf(usernameOf('istio-rollout', 'events'), events)).filter((call) => !granted.has(call)),
    ).toEqual([]);
    expect([...granted].filter((call) => call.startsWith('watch '))).toEqual([]);
  });
});
