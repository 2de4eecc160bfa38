import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { labelsOf } from '../../lib/function/names.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import type { WrittenSubscription } from '../../lib/source/branch.ts';
import { startSource } from '../../lib/source/source.ts';
import { openWorld, until, type World } from '../../functions/coredns-sync/test/world.ts';
import { send } from '../support/http.ts';

interface StackFunction {
  readonly namespace: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** What the schema of stack files knows of a function, apart from how it is built. */
const knownFields = new Set([
  ...['image', 'skip_build', 'namespace', 'environment', 'environment_file', 'secrets', 'labels', 'annotations'],
  ...['limits', 'requests', 'constraints', 'readonly_root_filesystem', 'fprocess'],
]);

async function stackFunctions(): Promise<Readonly<Record<string, StackFunction>>> {
  const { functions } = parse(await readFile('deploy/openfaas/stack.yaml', 'utf8')) as {
    readonly functions: Readonly<Record<string, StackFunction>>;
  };
  return functions;
}

describe('the stack file', () => {
  it('says of each function only what faas-cli knows, with text for every value that must be text', async () => {
    for (const [name, given] of Object.entries(await stackFunctions())) {
      expect(Object.keys(given).filter((field) => !knownFields.has(field))).toEqual([]);
      expect(given.environment['FUNCTION']).toBe(name);
      expect([...Object.values(given.environment), ...Object.values(given.annotations)]).toEqual(
        expect.not.arrayContaining([expect.any(Number), expect.any(Boolean)]),
      );
    }
  });

  it('labels pods as everywhere else, so that a release waits for their end', async () => {
    for (const [name, { labels }] of Object.entries(await stackFunctions())) {
      expect(labels).toMatchObject(labelsOf(name, 'events'));
    }
  });

  it('gives a pod more time to end than its drain takes, as faas-netes reads it: write_timeout and two seconds', async () => {
    for (const { environment } of Object.values(await stackFunctions())) {
      const [, seconds = ''] = /^(\d+)s$/.exec(environment['write_timeout'] ?? '') ?? [];

      expect(Number(seconds) + 2).toBeGreaterThanOrEqual(2 * Number(environment['DRAIN_SECONDS']));
    }
  });

  it('names an account that is shipped beside it, in the namespace of the function', async () => {
    for (const [name, { namespace, annotations }] of Object.entries(await stackFunctions())) {
      const beside = await manifestsOf(`deploy/openfaas/beside/${name}.yaml`);
      const accounts = beside.filter(
        ({ kind, metadata }) => kind === 'ServiceAccount' && metadata.namespace === namespace,
      );

      expect(accounts.map(({ metadata }) => metadata.name)).toContain(annotations['com.openfaas.serviceaccount']);
    }
  });
});

describe('events and ticks through a gateway', () => {
  const running = new AsyncDisposableStack();
  let world: World;
  let gateway: URL;

  beforeAll(async () => {
    const { environment = {} } = (await stackFunctions())['coredns-sync'] ?? {};
    world = running.use(await openWorld(environment));
    gateway = await startGateway(world.app.url);
    const transport = createTransport(kubeconfigAccess(JSON.stringify(world.sandbox.kubeconfig)));
    running.defer(() => transport.close());
    const subscriptions = (await shippedSubscriptions()).map(({ sink, ...rest }) => ({
      ...rest,
      sink: new URL(new URL(sink).pathname, gateway),
    }));
    const source = await startSource({
      transport,
      namespace: 'openfaas-fn',
      subscriptions,
      log: pino({ level: 'silent' }),
    });
    running.defer(() => source.close());
  });
  afterAll(() => running.disposeAsync());

  it('an Ingress is created, and its host gets a rule', async () => {
    await world.ingress('web', ['web.example.com']);

    await until(() => world.lines().some((line) => line.includes('web.example.com')));
  });

  it('the cron connector ticks, and what was wiped is written again', async () => {
    const rules = world.rules();
    await world.sandbox.api.remove(
      { group: '', plural: 'configmaps' },
      rules?.metadata as { name: string; namespace: string },
    );

    const headers = { 'x-connector': 'cron-connector', 'x-topic': 'cron-function' };
    const { status } = await send(gateway, { path: '/function/coredns-sync', headers, body: '' });

    expect(status).toBe(204);
    await until(() => world.lines().some((line) => line.includes('web.example.com')));
  });

  /** Like the one of OpenFaaS: `/function/<name>` is `/` of the function, and headers are passed on. */
  async function startGateway(target: URL): Promise<URL> {
    const server: Server = createServer((request, response) => {
      void (async () => {
        const body = Buffer.concat((await request.toArray()) as Buffer[]);
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        );
        const answer =
          request.url === '/function/coredns-sync' ? await send(target, { headers, body }) : { status: 404, body: '' };
        response.writeHead(answer.status).end(answer.body);
      })();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    running.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
});

async function manifestsOf(file: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as Manifest);
}

async function shippedSubscriptions(): Promise<WrittenSubscription[]> {
  const configMap = (await manifestsOf('deploy/openfaas/beside/source.yaml')).find(({ kind }) => kind === 'ConfigMap');
  const { 'subscriptions.json': text = '[]' } = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
  return (JSON.parse(text) as WrittenSubscription[]).filter(({ name }) => name === 'coredns-sync');
}
