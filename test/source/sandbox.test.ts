import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { configMaps, ingresses, namespaces, type Resource } from '../../lib/kube/model/resource.ts';
import { createTransport, type Transport } from '../../lib/kube/transport.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { startSource, type Source } from '../../lib/source/source.ts';
import { lastKnown, startRecorder, type Recorder } from '../../lib/source/testing/recorder.ts';
import { until } from '../../lib/source/testing/until.ts';
import type { SourceWatch } from '../../lib/source/view.ts';

let sandbox: Sandbox;
let transport: Transport;
let recorder: Recorder;
let source: Source | undefined;

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, httpPort: 0, controllers: false });
  await sandbox.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
});

afterAll(async () => {
  transport.close();
  await sandbox.close();
});

beforeEach(async () => {
  recorder = await startRecorder();
});

afterEach(async () => {
  await source?.close();
  source = undefined;
  sandbox.faults.clear();
  for (const { metadata } of sandbox.api.list(configMaps, { namespace: 'shop' })) {
    await sandbox.api.remove(configMaps, { name: metadata?.name ?? '', namespace: 'shop' });
  }
  await recorder.close();
});

async function start(...watches: SourceWatch[]): Promise<void> {
  source = await startSource({
    transport,
    namespace: 'shop',
    log: pino({ level: 'silent' }),
    subscriptions: [{ name: 'some-function', sink: recorder.url, watches }],
    pacing: { reconnect: { firstMs: 5, longestMs: 20 } },
  });
}

function watchOf(resource: Resource, watch: Partial<SourceWatch> = {}): SourceWatch {
  return { resource, mode: 'Resource', scope: resource.namespaced ? 'own' : 'cluster', ...watch };
}

function configMap(name: string, value: string): KubeObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { value } };
  return object;
}

function create(name: string): Promise<KubeObject> {
  return sandbox.api.create(configMaps, configMap(name, 'first'));
}

async function change(name: string, value: string): Promise<void> {
  await sandbox.api.update(configMaps, configMap(name, value));
}

function remove(name: string): Promise<void> {
  return sandbox.api.remove(configMaps, { name, namespace: 'shop' });
}

function agrees(): boolean {
  const known = lastKnown(recorder.accepted);
  const objects = sandbox.api.list(configMaps, { namespace: 'shop' });
  return (
    known.size === objects.length &&
    objects.every(({ metadata }) => known.get(`shop/${metadata?.name ?? ''}`) === metadata?.resourceVersion)
  );
}

function heard(): string[] {
  return recorder.accepted.map(({ says }) => says);
}

describe('the source on the sandbox', () => {
  it('sends existing objects, then changes, over TLS', async () => {
    await create('a');
    await start(watchOf(configMaps));
    await until(() => heard().includes('add shop/a'), 'the start');

    await change('a', 'second');
    await remove('a');
    await until(() => heard().at(-1) === 'delete shop/a', 'the end');

    const own = recorder.accepted.filter(({ headers }) => headers['ce-name'] === 'a');
    expect(own.map(({ says }) => says)).toEqual(['add shop/a', 'update shop/a', 'delete shop/a']);
    expect(own[1]).toMatchObject({
      headers: { 'ce-source': sandbox.url, 'ce-apiversion': 'v1', 'ce-kind': 'ConfigMap' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', data: { value: 'second' } },
    });
  });

  it('sends kinds of other groups and of the cluster', async () => {
    await start(watchOf(namespaces), watchOf(ingresses, { mode: 'Reference', scope: 'cluster' }));
    await sandbox.api.create(ingresses, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    } as KubeObject);
    await until(() => heard().includes('add shop/web') && heard().includes('add shop'), 'both');

    expect(recorder.accepted.map(({ headers }) => headers['ce-subject'])).toEqual(
      expect.arrayContaining([
        '/apis/v1/namespaces//namespaces/shop',
        '/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web',
      ]),
    );
  });

  it('misses nothing when watches are dropped, history is compacted and requests fail', async () => {
    await start(watchOf(configMaps));
    for (let round = 0; round < 12; round += 1) {
      await create(`c${round}`);
      await change(`c${round}`, `round ${round}`);
      if (round % 3 === 0) {
        sandbox.faults.add({ verb: 'watch', times: 1, effect: { do: 'refuse', status: 503 } });
        sandbox.faults.add({ verb: 'list', times: 1, effect: { do: 'cut', when: 'before' } });
        sandbox.faults.dropWatches();
      }
      if (round % 4 === 0) {
        await remove(`c${round}`);
        sandbox.compact();
      }
      await until(agrees, `the state after round ${round}`);
    }

    const states = recorder.accepted
      .filter(({ says }) => !says.startsWith('delete'))
      .map(({ object }) => object.metadata?.resourceVersion);
    expect(new Set(states).size).toBe(states.length);
  });
});
