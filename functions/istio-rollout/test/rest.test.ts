import { afterEach, describe, expect, it } from '@jest/globals';
import istioRollout from '../index.ts';
import type { Status } from '../render.ts';
import { injectorConfigMap, revisionWebhooks } from '../sandbox/istio.ts';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import type { Call } from '../../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { systemClock } from '../../../lib/sandbox/model/clock.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { fillMesh, type MeshSize } from '../../../test/bench/measure/mesh.ts';
import { binaryEvent, send, startApp } from '../../../test/support/http.ts';
import { startInjector, type Injector } from './injector/injector.ts';

const minute = 60_000;
const proxy = { revision: 'default', image: 'docker.io/istio/proxyv2:1.29.0' };

/** A mesh where nothing is outdated, at a time that the test turns. */
interface Mesh {
  readonly app: Running;
  readonly sandbox: Sandbox;
  readonly injector: Injector;
  readonly calls: Call[];
  readonly turn: (ms: number) => void;
}

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) {
    await close();
  }
});

async function openMesh(size: MeshSize, settings: Readonly<Record<string, string>>): Promise<Mesh> {
  let now = Date.parse('2026-03-01T00:00:00Z');
  const calls: Call[] = [];
  const injector = await startInjector(proxy);
  const sandbox = await startSandbox({ controllers: false, clock: { ...systemClock, now: () => new Date(now) } });
  opened.push(
    () => sandbox.close(),
    () => injector.close(),
  );
  await fill(sandbox, injector, size);
  now += 60 * minute;
  const app = await startApp(istioRollout, {
    environment: { POD_NAMESPACE: 'kube-reflex', ...settings },
    access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
    now: () => new Date(now),
    observe: (call) => calls.push(call),
  });
  opened.push(() => app.close());
  return { app, sandbox, injector, calls, turn: (ms) => (now += ms) };
}

async function fill({ api }: Sandbox, { clientConfig }: Injector, size: MeshSize): Promise<void> {
  for (const name of ['istio-system', 'kube-reflex']) {
    await api.create(namespaces, { metadata: { name } });
  }
  await api.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.29.0' }));
  await fillMesh(api, size, proxy);
  await api.create(mutatingWebhooks, revisionWebhooks('default', clientConfig));
}

async function tick({ url }: Running): Promise<void> {
  const { status } = await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
  expect(status).toBe(204);
}

function writesIn(calls: readonly Call[]): readonly string[] {
  return calls
    .filter(({ verb }) => verb !== 'get' && verb !== 'list')
    .map(({ verb, resource }) => `${verb} ${resource}`);
}

describe('an hour without change', () => {
  it.each([
    { period: '1h', scans: 1 },
    { period: '10m', scans: 6 },
  ])('probes nothing and writes one checkpoint per full scan, every $period', async ({ period, scans }) => {
    const mesh = await openMesh({ namespaces: 2, workloads: 6, podsEach: 2 }, { RECONCILE_PERIOD: period });
    await tick(mesh.app);
    await tick(mesh.app); // what the first one began has ended
    const probes = mesh.injector.counts().probes;
    mesh.calls.length = 0;

    for (let passed = 0; passed < 60; passed += 1) {
      mesh.turn(minute);
      await tick(mesh.app);
    }
    await mesh.app.close();

    expect(mesh.injector.counts().probes).toBe(probes);
    expect(writesIn(mesh.calls)).toEqual(Array<string>(scans).fill('patch configmaps'));
  });
});

describe('a large mesh at rest', () => {
  it('IR-40 5,000 fresh pods in 500 workloads, nothing drifted: no probe, and as many pages as the pods fill', async () => {
    // Labels of the namespaces are as young as their pods; they are given the same moment that istiod is.
    const size = { namespaces: 10, workloads: 500, podsEach: 10 };
    const { app, injector, calls } = await openMesh(size, { ISTIOD_CONFIG_READ_DELAY: '0' });

    await tick(app);

    const lists = calls.filter(({ verb }) => verb === 'list');
    expect(injector.counts().probes).toBe(0);
    expect(lists.filter(({ resource }) => resource === 'pods')).toHaveLength(10);
    expect(lists.length).toBeLessThanOrEqual(20);
  });
});

describe('10,000 namespaces with the longest names', () => {
  it('are more than the state holds: it leaves some out, says so, and writes nothing while they stay', async () => {
    const mesh = await openMesh({ namespaces: 1, workloads: 2, podsEach: 1 }, {});
    for (let index = 0; index < 10_000; index += 1) {
      await mesh.sandbox.api.create(namespaces, { metadata: { name: `team-${index}-`.padEnd(63, 'x') } });
    }
    await tick(mesh.app);
    mesh.calls.length = 0;
    for (let passed = 0; passed < 3; passed += 1) {
      mesh.turn(minute);
      await tick(mesh.app);
    }

    const { omitted = {} } = JSON.parse((await send(mesh.app.url, { method: 'GET', path: '/status' })).body) as Status;
    const { body: metrics } = await send(mesh.app.url, { method: 'GET', path: '/metrics' });
    expect(omitted.namespaces).toBeGreaterThan(100);
    expect(metrics).toContain(`kube_reflex_istio_rollout_omitted{what="namespaces"} ${omitted.namespaces ?? 0}\n`);
    expect(writesIn(mesh.calls)).toEqual([]);
  });
});
