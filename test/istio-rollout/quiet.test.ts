import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../lib/kube/resource.ts';
import { serve, type Running } from '../../lib/main.ts';
import { systemClock } from '../../lib/sandbox/clock.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { fillMesh } from '../bench/measure/mesh.ts';
import { binaryEvent, send } from '../http.ts';
import { startInjector, type Injector } from '../injector/injector.ts';

const minute = 60_000;
const proxy = { revision: 'default', image: 'docker.io/istio/proxyv2:1.29.0' };

/** A mesh where nothing is outdated, at a time that the test turns. */
interface Mesh {
  readonly app: Running;
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

async function openMesh(settings: Readonly<Record<string, string>>): Promise<Mesh> {
  let now = Date.parse('2026-03-01T00:00:00Z');
  const calls: Call[] = [];
  const injector = await startInjector(proxy);
  const sandbox = await startSandbox({ controllers: false, clock: { ...systemClock, now: () => new Date(now) } });
  opened.push(
    () => sandbox.close(),
    () => injector.close(),
  );
  await fill(sandbox, injector);
  now += 60 * minute;
  const app = await serve({
    definitions: [istioRollout],
    environment: { PORT: '0', POD_NAMESPACE: 'kube-reflex', ...settings },
    access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
    host: '127.0.0.1',
    log: pino({ level: 'silent' }),
    now: () => new Date(now),
    observe: (call) => calls.push(call),
  });
  opened.push(() => app.close());
  return { app, injector, calls, turn: (ms) => (now += ms) };
}

async function fill({ api }: Sandbox, { clientConfig }: Injector): Promise<void> {
  for (const name of ['istio-system', 'kube-reflex']) {
    await api.create(namespaces, { metadata: { name } });
  }
  await api.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.29.0' }));
  await fillMesh(api, { namespaces: 2, workloads: 6, podsEach: 2 }, proxy);
  await api.create(mutatingWebhooks, revisionWebhooks('default', clientConfig));
}

async function tick({ url }: Running): Promise<void> {
  const { status } = await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));
  expect(status).toBe(204);
}

function isWrite({ verb }: Call): boolean {
  return verb !== 'get' && verb !== 'list';
}

describe('an hour without change', () => {
  it.each([
    { period: '1h', scans: 1 },
    { period: '10m', scans: 6 },
  ])('probes nothing and writes one checkpoint per full scan, every $period', async ({ period, scans }) => {
    const mesh = await openMesh({ RECONCILE_PERIOD: period });
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
    expect(mesh.calls.filter(isWrite).length).toBeLessThanOrEqual(scans);
  });
});
