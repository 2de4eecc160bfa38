import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundlePrograms } from '../../deploy/bundle.ts';
import { launch } from '../../deploy/launch.ts';
import { ingresses } from '../../lib/kube/model/resource.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import { until } from '../../lib/source/testing/until.ts';
import { start, type Started } from '../bench/measure/program.ts';
import { ingressOf } from '../../functions/coredns-sync/test/world.ts';
import { binaryEvent, send } from '../support/http.ts';

/** What stands beside the functions in the image, as it is started there. */
describe('the programs of the image', () => {
  const running = new AsyncDisposableStack();
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kube-reflex-programs-'));
    running.defer(() => rm(directory, { recursive: true }));
    await bundlePrograms(directory);
  });
  afterAll(() => running.disposeAsync());

  async function startBundle(name: string, settings: Readonly<Record<string, string>>): Promise<Started> {
    const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
    const given = { PORT: '0', LOG_LEVEL: 'info', ...settings };
    const started = await start({
      file: join(directory, `${name}.cjs`),
      flags,
      environment: { ...environment, ...given },
    });
    running.defer(async () => {
      await started.stop();
    });
    return started;
  }

  it('source: a change of the cluster reaches the function that asked for it', async () => {
    const sandbox = await startSandbox({ controllers: false });
    running.defer(() => sandbox.close());
    const received: IncomingHttpHeaders[] = [];
    const receiver = createServer((request, response) => {
      received.push(request.headers);
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    running.defer(() => void receiver.close());
    await once(receiver, 'listening');
    const sink = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const watch = { resource: ingresses, mode: 'Reference', scope: 'cluster' };
    const [kubeconfig, subscriptions] = [join(directory, 'kubeconfig'), join(directory, 'subscriptions.json')];
    await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig));
    await writeFile(subscriptions, JSON.stringify([{ name: 'sample', sink, watches: [watch], tick: '* * * * *' }]));
    await startBundle('source', { KUBECONFIG: kubeconfig, SUBSCRIPTIONS: subscriptions, POD_NAMESPACE: 'kube-reflex' });

    await sandbox.api.create({ group: '', plural: 'namespaces' }, { metadata: { name: 'shop' } });
    await sandbox.api.create(ingresses, ingressOf('web', ['web.example.com']));

    await until(() => received.some((headers) => headers['ce-name'] === 'web'), 'the function gets the event');
    expect(received.find((headers) => headers['ce-name'] === 'web')).toMatchObject({
      'ce-type': 'dev.knative.apiserver.ref.add',
      'ce-kind': 'Ingress',
      'ce-namespace': 'shop',
    });
  });

  it('dead-letters: takes an event that nobody could handle, and counts it', async () => {
    const { urls } = await startBundle('dead-letters', {});
    const [url = new URL('http://127.0.0.1:1')] = urls;

    const { status } = await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    expect(status).toBe(204);
    expect((await send(url, { method: 'GET', path: '/metrics' })).body).toMatch(
      /^kube_reflex_dead_letters_total.* 1$/m,
    );
  });
});
