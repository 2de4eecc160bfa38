import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../lib/kube/resource.ts';
import { serve } from '../../lib/main.ts';
import { systemClock } from '../../lib/sandbox/clock.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import { fillMesh } from '../bench/measure/mesh.ts';
import { binaryEvent, send } from '../http.ts';
import { startInjector } from '../injector/injector.ts';

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) {
    await close();
  }
});

describe('a large mesh at rest', () => {
  it('IR-40 5,000 fresh pods in 500 workloads, nothing drifted: no probe, and as many pages as the pods fill', async () => {
    let now = Date.parse('2026-03-01T00:00:00Z');
    const calls: Call[] = [];
    const proxy = { revision: 'default', image: 'docker.io/istio/proxyv2:1.29.0' };
    const injector = await startInjector(proxy);
    const sandbox = await startSandbox({ controllers: false, clock: { ...systemClock, now: () => new Date(now) } });
    opened.push(
      () => sandbox.close(),
      () => injector.close(),
    );
    for (const name of ['istio-system', 'kube-reflex']) {
      await sandbox.api.create(namespaces, { metadata: { name } });
    }
    await sandbox.api.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.29.0' }));
    now += 3_600_000;
    await fillMesh(sandbox.api, { namespaces: 10, workloads: 500, podsEach: 10 }, proxy);
    await sandbox.api.create(mutatingWebhooks, revisionWebhooks('default', injector.clientConfig));
    // Labels of the namespaces are as young as their pods; they are given the same moment that istiod is.
    const app = await serve({
      definitions: [istioRollout],
      environment: { PORT: '0', POD_NAMESPACE: 'kube-reflex', ISTIOD_CONFIG_READ_DELAY: '0' },
      access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
      host: '127.0.0.1',
      log: pino({ level: 'silent' }),
      now: () => new Date(now),
      observe: (call) => calls.push(call),
    });
    opened.push(() => app.close());

    const { status } = await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    const lists = calls.filter(({ verb }) => verb === 'list');
    expect(status).toBe(204);
    expect(injector.counts().probes).toBe(0);
    expect(lists.filter(({ resource }) => resource === 'pods')).toHaveLength(10);
    expect(lists.length).toBeLessThanOrEqual(20);
  }, 240_000); // filling the sandbox takes seconds, and far longer beside other suites
});
