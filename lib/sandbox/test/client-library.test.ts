import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node/dist/index.js'; // all of it, see test/support/packages.js
import { type Sandbox, startSandbox } from '../sandbox.ts';

let sandbox: Sandbox;
const config = new KubeConfig();
const namespace = 'default';

beforeAll(async () => {
  sandbox = await startSandbox({ podReadyMs: 10 });
  config.loadFromString(JSON.stringify(sandbox.kubeconfig));
});

afterAll(() => sandbox.close());

function deployment(name: string): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web:1' }] } };
  return { metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
}

describe('the client library against the sandbox', () => {
  it('creates, reads, replaces, lists and deletes', async () => {
    const core = config.makeApiClient(CoreV1Api);

    const made = await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'typed' }, data: { a: '1' } },
    });
    await core.replaceNamespacedConfigMap({
      namespace,
      name: 'typed',
      body: Object.assign(made, { data: { a: '2' } }),
    });
    const read = await core.readNamespacedConfigMap({ namespace, name: 'typed' });
    const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=typed' });
    await core.deleteNamespacedConfigMap({ namespace, name: 'typed' });

    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(read.data).toEqual({ a: '2' });
    expect(list.items).toHaveLength(1);
    await expect(core.readNamespacedConfigMap({ namespace, name: 'typed' })).rejects.toMatchObject({ code: 404 });
    await expect(core.readNamespacedConfigMap({ namespace, name: 'typed' })).rejects.toBeInstanceOf(ApiException);
  });

  it('goes through pages', async () => {
    const core = config.makeApiClient(CoreV1Api);
    for (const name of ['page-a', 'page-b', 'page-c']) {
      await core.createNamespacedSecret({ namespace, body: { metadata: { name } } });
    }

    const first = await core.listNamespacedSecret({ namespace, limit: 2 });
    const rest = await core.listNamespacedSecret({ namespace, limit: 2, _continue: first.metadata?._continue ?? '' });

    expect([...first.items, ...rest.items].map(({ metadata }) => metadata?.name)).toEqual([
      'page-a',
      'page-b',
      'page-c',
    ]);
  });

  it('patches with each strategy', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    await apps.createNamespacedDeployment({ namespace, body: deployment('patched') });
    const target = { namespace, name: 'patched' };

    await apps.patchNamespacedDeployment(
      { ...target, body: { metadata: { labels: { merged: 'yes' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await apps.patchNamespacedDeployment(
      { ...target, body: [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    );
    await apps.patchNamespacedDeployment(
      {
        ...target,
        body: { spec: { template: { spec: { containers: [{ name: 'side', image: 'example.test/side' }] } } } },
      },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    const applied = await apps.patchNamespacedDeployment(
      {
        ...target,
        fieldManager: 'tester',
        body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'patched', labels: { applied: 'yes' } } },
      },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    );

    expect(applied.metadata?.labels).toEqual({ merged: 'yes', patched: 'yes', applied: 'yes' });
    expect(applied.spec?.template.spec?.containers.map(({ name }) => name).sort()).toEqual(['side', 'web']);
  });

  it('watches', async () => {
    const { promise: seen, resolve } = Promise.withResolvers<unknown>();
    const core = config.makeApiClient(CoreV1Api);
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const controller = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: metadata?.resourceVersion, fieldSelector: 'metadata.name=watched' },
      (type, object) => resolve([type, object]),
      () => undefined,
    );

    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'watched' } } });

    expect(await seen).toEqual(['ADDED', expect.objectContaining({ kind: 'ConfigMap' })]);
    controller.abort();
  });

  it('keeps an informer current', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/serviceaccounts`, () =>
      core.listNamespacedServiceAccount({ namespace }),
    );
    const { promise: added, resolve } = Promise.withResolvers<undefined>();
    informer.on('add', ({ metadata }) => {
      if (metadata?.name === 'informed') {
        resolve(undefined);
      }
    });
    await informer.start();

    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'informed' } } });
    await added;

    expect(informer.get('informed', namespace)?.metadata?.uid).toBeDefined();
    await informer.stop();
  });

  it('scales, and reads objects of any kind', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    await apps.createNamespacedDeployment({ namespace, body: deployment('any') });

    const { spec } = await apps.readNamespacedDeploymentScale({ namespace, name: 'any' });
    // Without a resourceVersion: the controllers write the same object meanwhile.
    const body = { metadata: { namespace, name: 'any' }, spec: { replicas: 0 } };
    await apps.replaceNamespacedDeploymentScale({ namespace, name: 'any', body });
    const found = await KubernetesObjectApi.makeApiClient(config).read({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'any', namespace },
    });

    expect(spec?.replicas).toBe(1);
    expect(found).toMatchObject({ spec: { replicas: 0 } });
  });

  it('serves custom objects', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    };
    await objects.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.test' },
      ...{
        spec: {
          group: 'example.test',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      },
    });
    const custom = config.makeApiClient(CustomObjectsApi);
    const widgets = { group: 'example.test', version: 'v1', namespace, plural: 'widgets' };

    await untilServed(() => custom.listNamespacedCustomObject(widgets));
    await custom.createNamespacedCustomObject({
      ...widgets,
      body: { metadata: { name: 'w' }, spec: { size: 3, lost: true } },
    });

    expect(await custom.getNamespacedCustomObject({ ...widgets, name: 'w' })).toMatchObject({ spec: { size: 3 } });
  });
});

/** A new kind is served a moment after its definition. */
async function untilServed(read: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await read();
      return;
    } catch (error) {
      if (!(error instanceof ApiException) || error.code !== 404) {
        throw error;
      }
    }
  }
}
