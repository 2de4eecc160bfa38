import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import istioRollout from '../../index.ts';
import { queueNames, stateName } from '../../names.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { startArgo, type Argo } from './argo.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import { startFunction, type RealFunction } from '../../../../test/real/support/function.ts';
import {
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
import { proxyImage, startIstiod, type Istiod } from './istiod.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';
import { grantedTo, refusedTo } from '../../../../test/real/support/rights.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import {
  createNamespace,
  createWorkloads,
  mergePatch,
  pathOfWorkload,
  type Workload,
} from '../../../../test/real/support/workloads.ts';

/** Every feature that asks for a right. */
const everything = { ...eager, ON_DELETE_ACTION: 'evict', UNMANAGED_ACTION: 'evict', PROBE_MODE: 'dryRun' };

const namespace = 'shop';
const workloads = {
  web: { kind: 'Deployment', namespace, name: 'web' },
  paused: { kind: 'Deployment', namespace, name: 'paused' },
  db: { kind: 'StatefulSet', namespace, name: 'db' },
  held: { kind: 'StatefulSet', namespace, name: 'held' },
  agent: { kind: 'DaemonSet', namespace, name: 'agent' },
} as const satisfies Readonly<Record<string, Workload>>;

/** Conditions end the waits; this is for a machine where nothing moves at all. */
jest.setTimeout(600_000);

describe('with every feature on, under the shipped rights', () => {
  let site: RolloutSite;
  let client: Client;
  let plane: Istiod;
  let argo: Argo;
  let fn: RealFunction;

  beforeAll(async () => {
    site = await openRolloutSite(everything);
    ({ client } = site);
    plane = await startIstiod(site.cluster, client, { revision: 'default', tag: '1.28.4', slot: 0 });
    await createNamespace(client, namespace, { 'istio-injection': 'enabled' });
    await createWorkloads(client, Object.values(workloads));
    await mergePatch(client, pathOfWorkload(workloads.paused), { spec: { paused: true } });
    await mergePatch(client, pathOfWorkload(workloads.held), {
      spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
    });
    for (const manifest of [controllerOf('ReplicaSet'), controllerOf('ReplicationController'), revision]) {
      await applyManifest(client, manifest);
    }
    await addStray();
    argo = await startArgo(client);
    fn = await startFunction(site.cluster, shipped, { port: 0, environment: everything });
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  /** A pod that only a ControllerRevision leads to. */
  async function addStray(): Promise<void> {
    const { metadata } = expectCode(
      200,
      await client.call('GET', `/apis/apps/v1/namespaces/shop/controllerrevisions/stray`),
    );
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      name: 'stray',
      uid: metadata?.uid,
      controller: true,
    };
    const body = { metadata: { name: 'stray', ownerReferences: [owner] }, spec: podSpec };
    expectCode(201, await client.call('POST', '/api/v1/namespaces/shop/pods', { body }));
  }

  async function proxies(): Promise<ReadonlySet<string>> {
    const { items = [] } = expectCode(200, await client.call('GET', '/api/v1/namespaces/shop/pods'));
    const images = items
      .filter(({ metadata }) => !/^(paused|stray)/.test(metadata?.name ?? ''))
      .flatMap(({ spec }) => (spec as typeof podSpec).containers)
      .filter(({ name }) => name === 'istio-proxy')
      .map(({ image }) => image);
    return new Set(images);
  }

  async function upgrade(): Promise<void> {
    await plane.configure('1.29.0');
    await plane.injects('1.29.0');
    await tell(fn, configMapChanged('istio-sidecar-injector'));
    await tell(fn, webhooksChanged('istio-sidecar-injector'));
    await tell(fn, namespaceChanged(namespace));
  }

  /** A queue that fills all its ConfigMaps: workloads that are gone, and last of all one that waits for people. */
  async function fillQueue(): Promise<void> {
    const statePath = `/api/v1/namespaces/${standardInstallation.namespace}/configmaps/${stateName}`;
    const { data = {} } = expectCode(200, await client.call('GET', statePath));
    const { value } = JSON.parse(data['queue'] ?? '') as { value: { items: readonly { name: string }[] } };
    const waiting = value.items.filter(({ name }) => name === 'paused');
    const gone = { ...waiting[0], uid: 'gone', name: 'gone' };
    expect(waiting).toHaveLength(1);
    for (const [index, name] of queueNames.entries()) {
      const items = [{ ...gone, uid: `gone-${index}` }, ...(index === queueNames.length - 1 ? waiting : [])];
      await applyManifest(client, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: standardInstallation.namespace },
        data: { items: JSON.stringify({ v: 1, value: items }) },
      });
    }
    const queue = { v: 1, value: { ...value, items: [], parts: queueNames.length } };
    await mergePatch(client, statePath, { data: { queue: JSON.stringify(queue) } });
  }

  it('uses every right that it is granted, on every object that is named, and is refused none', async () => {
    await tick(fn);
    await upgrade();
    await waitUntil('all proxies are new', async () => {
      await finish(fn, argo.play);
      return [...(await proxies())].join() === proxyImage('1.29.0');
    });
    await fillQueue();
    await tick(fn);
    await fn.running.stop('SIGTERM');

    const audit = await settledAudit(site.cluster, client);
    expect(refusedTo(istioRollout, 'events', audit)).toEqual([]);
    expect(usedRights(audit, everything)).toEqual(grantedTo(istioRollout, 'events', everything));
  });
});

const podSpec = { containers: [{ name: 'app', image: 'example.com/app:1' }] };

const revision: AnyManifest = {
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name: 'stray', namespace },
  data: {},
  revision: 1,
};

/** One that no Deployment stands behind. */
function controllerOf(kind: 'ReplicaSet' | 'ReplicationController'): AnyManifest {
  const labels = { app: kind.toLowerCase() };
  const selector = kind === 'ReplicaSet' ? { matchLabels: labels } : labels;
  return {
    apiVersion: kind === 'ReplicaSet' ? 'apps/v1' : 'v1',
    kind,
    metadata: { name: kind.toLowerCase(), namespace },
    spec: { replicas: 1, selector, template: { metadata: { labels }, spec: podSpec } },
  };
}
