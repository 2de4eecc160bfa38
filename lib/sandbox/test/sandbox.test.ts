import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { get, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { KubeObject, Status } from '../../kube/model/wire.ts';
import { type Sandbox, startSandbox } from '../sandbox.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
});

afterAll(() => sandbox.close());

const configMaps = '/api/v1/namespaces/default/configmaps';

interface Init extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

function call(path: string, { headers, ...init }: Init = {}): Promise<Response> {
  return fetch(`${sandbox.httpUrl}${path}`, { ...init, headers: { 'content-type': 'application/json', ...headers } });
}

async function json<T = KubeObject>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

function make(name: string, data: Record<string, string> = {}): Promise<Response> {
  return call(configMaps, { method: 'POST', body: JSON.stringify({ metadata: { name }, data }) });
}

async function overTls(token?: string): Promise<{ code: number | undefined; incoming: IncomingMessage }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const outgoing = get(`${sandbox.url}/api/v1/namespaces/default`, { ca: sandbox.ca, headers, agent: false });
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.resume();
  return { code: incoming.statusCode, incoming };
}

describe('a sandbox', () => {
  it('starts in well under a second, on this machine alone, and closes for good', async () => {
    const started = performance.now();
    const other = await startSandbox();
    const took = performance.now() - started;
    const watch = await fetch(`${other.httpUrl}${configMaps}?watch=1`);

    await other.close();

    expect(took).toBeLessThan(20_000);
    expect(new URL(other.url).hostname).toBe('127.0.0.1');
    await watch.body?.cancel().catch(() => undefined);
    await expect(fetch(`${other.httpUrl}/readyz`)).rejects.toThrow();
  });

  it('says so when a port is taken, and leaves nothing open', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as AddressInfo;

    await expect(startSandbox({ httpPort: port })).rejects.toThrow('EADDRINUSE');

    squatter.close();
  });

  it('wants a token over TLS and none without', async () => {
    expect((await overTls(sandbox.adminToken)).code).toBe(200);
    expect((await overTls('wrong')).code).toBe(401);
    expect((await overTls()).code).toBe(401);
    expect((await call('/api/v1/namespaces/default')).status).toBe(200);
  });

  it('takes the tokens of ServiceAccounts until the account is gone', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await call(accounts, { method: 'POST', body: JSON.stringify({ metadata: { name: 'robot' } }) });
    const issued = await call(`${accounts}/robot/token`, { method: 'POST', body: '{"spec":{}}' });
    const { status } = await json<{ status: { token: string } }>(issued);

    expect((await overTls(status.token)).code).toBe(200);
    await call(`${accounts}/robot`, { method: 'DELETE' });
    expect((await overTls(status.token)).code).toBe(401);
  });

  it('indents for curl and returns YAML on request', async () => {
    const curl = await (await call('/api/v1/namespaces/default', { headers: { 'user-agent': 'curl/8.0' } })).text();
    const yaml = await (await call('/api/v1/namespaces/default', { headers: { accept: 'application/yaml' } })).text();

    expect(curl).toContain('\n  "kind": "Namespace"');
    expect(yaml).toContain('kind: Namespace\n');
  });

  it('answers HEAD without a body', async () => {
    const head = await call('/api/v1/namespaces/default', { method: 'HEAD' });

    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  it('names what it leaves out', async () => {
    const logs = await call('/api/v1/namespaces/default/pods/x/log');
    const certificates = await call('/apis/certificates.k8s.io/v1/certificatesigningrequests');

    expect([logs.status, certificates.status]).toEqual([501, 501]);
    expect(await json<Status>(logs)).toMatchObject({ kind: 'Status', message: 'the sandbox does not serve pods/log' });
  });

  it('shows an event under both of its names', async () => {
    const event = {
      reason: 'Tested',
      message: 'hello',
      type: 'Normal',
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    };
    await call('/api/v1/namespaces/default/events', {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: 'e' }, ...event }),
    });

    const other = await call('/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name=p');

    expect(await json(other)).toMatchObject({ items: [{ note: 'hello', regarding: { name: 'p' } }] });
  });

  it('keeps the finalizers of a namespace that is replaced without them', async () => {
    const body = JSON.stringify({ metadata: { name: 'default', labels: { a: 'b' } } });

    const replaced = await call('/api/v1/namespaces/default', { method: 'PUT', body });

    expect(await json(replaced)).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { finalizers: ['kubernetes'] },
    });
  });

  it('gives Services addresses and keeps them', async () => {
    const services = '/api/v1/namespaces/default/services';
    const body = { metadata: { name: 'web' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } };
    const made = await json<{ spec: object }>(await call(services, { method: 'POST', body: JSON.stringify(body) }));

    const replaced = await json<{ spec: object }>(
      await call(`${services}/web`, { method: 'PUT', body: JSON.stringify(body) }),
    );

    expect(made.spec).toMatchObject({
      clusterIP: expect.stringMatching(/^10\.96\./),
      ports: [{ nodePort: expect.any(Number) }],
    });
    expect(replaced.spec).toEqual(made.spec);
  });
});

describe('a watch', () => {
  async function lines(path: string): Promise<{ next: () => Promise<unknown>; close: () => void }> {
    const outgoing = request(`${sandbox.url}${path}`, {
      ca: sandbox.ca,
      headers: { authorization: `Bearer ${sandbox.adminToken}` },
      agent: false,
    });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const all = createInterface(incoming)[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { value, done } = await all.next();
        return done === true ? undefined : (JSON.parse(value) as unknown);
      },
      close: () => outgoing.destroy(),
    };
  }

  it('ends at its time with a bookmark of the present revision', async () => {
    const { metadata } = await json<{ metadata: { resourceVersion: string } }>(await call(configMaps));
    const { resourceVersion } = metadata;

    const watch = await lines(
      `${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`,
    );

    expect(await watch.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { resourceVersion } },
    });
    expect(await watch.next()).toBeUndefined();
  });

  it('gets an error when its revision is forgotten', async () => {
    await make('forgotten');
    sandbox.compact();

    const watch = await lines(`${configMaps}?watch=1&resourceVersion=1`);

    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(await watch.next()).toBeUndefined();
  });

  it('can be dropped', async () => {
    const watch = await lines(`${configMaps}?watch=1&timeoutSeconds=60&fieldSelector=metadata.name=none`);

    expect(sandbox.faults.dropWatches({ resource: 'configmaps' })).toBe(1);
    expect(await watch.next()).toBeUndefined();
  });

  it('shows rows to a client that wants tables', async () => {
    await make('row', { a: '1' });

    const list = await call(`${configMaps}/row`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });

    expect(await json(list)).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['row', 1, expect.stringMatching(/^\d+s$/)], object: { kind: 'PartialObjectMetadata' } }],
    });
  });
});

describe('a fault', () => {
  it('refuses as often as configured, and is recorded', async () => {
    const effect = { do: 'refuse', status: 503, retryAfter: 7 } as const;
    sandbox.faults.add({ verb: 'get', resource: 'configmaps', name: 'faulty', times: 1, effect });

    const first = await call(`${configMaps}/faulty`);
    const second = await call(`${configMaps}/faulty`);

    expect([first.status, first.headers.get('retry-after'), second.status]).toEqual([503, '7', 404]);
    expect(sandbox.faults.fired.at(-1)).toMatchObject({ verb: 'get', name: 'faulty', effect });
  });

  it.each([
    ['before', 404],
    ['after', 200],
  ] as const)('cuts the connection %s the work', async (when, found) => {
    const name = `cut-${when}`;
    sandbox.faults.add({ verb: 'create', resource: 'configmaps', times: 1, effect: { do: 'cut', when } });

    await expect(make(name)).rejects.toThrow();

    expect((await call(`${configMaps}/${name}`)).status).toBe(found);
  });

  it('hangs until the client gives up', async () => {
    sandbox.faults.add({ verb: 'get', name: 'hung', times: 1, effect: { do: 'hang' } });

    await expect(call(`${configMaps}/hung`, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect((await call(`${configMaps}/hung`)).status).toBe(404);
  });

  it('delays', async () => {
    sandbox.faults.add({ verb: 'get', name: 'late', times: 1, effect: { do: 'delay', ms: 60 } });
    const started = performance.now();

    await call(`${configMaps}/late`);

    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
  });
});

describe('concurrent writes', () => {
  it('all count when they do not name a revision, and only one when they all name the same', async () => {
    const made = await json(await make('shared'));
    const names = Array.from({ length: 20 }, (_, index) => `k${index}`);
    function patch(body: object): Promise<Response> {
      const headers = { 'content-type': 'application/merge-patch+json' };
      return call(`${configMaps}/shared`, { method: 'PATCH', headers, body: JSON.stringify(body) });
    }

    await Promise.all(names.map((name) => patch({ data: { [name]: '1' } })));
    const { data } = await json<{ data: object }>(await call(`${configMaps}/shared`));
    const { resourceVersion } = (await json(await call(`${configMaps}/shared`))).metadata ?? {};
    const raced = await Promise.all(
      names.map((name) => patch({ metadata: { resourceVersion }, data: { [name]: '2' } })),
    );

    expect(made.metadata?.uid).toBeDefined();
    expect(Object.keys(data)).toHaveLength(20);
    expect(raced.map(({ status }) => status).sort()).toEqual([200, ...names.slice(1).map(() => 409)]);
  });
});
