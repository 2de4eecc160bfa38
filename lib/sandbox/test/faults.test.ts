import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { configMaps } from '../../kube/model/resource.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';

const place = '/api/v1/namespaces/default/configmaps';

let sandbox: Sandbox;
let ending: AbortController;

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
});

beforeEach(() => {
  ending = new AbortController();
});

afterEach(() => {
  sandbox.faults.clear();
  ending.abort();
});

afterAll(() => sandbox.close());

describe('an injected fault', () => {
  it.each([
    [409, 'Conflict'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ] as const)('refuses with %i as often as configured', async (status, reason) => {
    sandbox.faults.add({
      verb: 'list',
      resource: 'configmaps',
      times: 1,
      effect: { do: 'refuse', status, retryAfter: 7 },
    });

    const refused = await request('GET', place);
    const served = await request('GET', place);

    expect(refused.status).toBe(status);
    expect(refused.headers.get('retry-after')).toBe('7');
    expect(await refused.json()).toMatchObject({ kind: 'Status', reason, details: { retryAfterSeconds: 7 } });
    expect(served.status).toBe(200);
  });

  it('strikes only what it names', async () => {
    sandbox.faults.add({ verb: 'get', resource: 'configmaps', name: 'a', effect: { do: 'refuse', status: 503 } });
    await create('a');
    await create('b');

    expect((await request('GET', `${place}/a`)).status).toBe(503);
    expect((await request('GET', `${place}/b`)).status).toBe(200);
    expect(sandbox.faults.fired.at(-1)).toMatchObject({
      verb: 'get',
      resource: 'configmaps',
      name: 'a',
      user: 'admin',
    });
  });

  it('delays an answer', async () => {
    sandbox.faults.add({ verb: 'list', effect: { do: 'delay', ms: 60 } });
    const start = performance.now();

    expect((await request('GET', place)).status).toBe(200);

    expect(performance.now() - start).toBeGreaterThanOrEqual(55);
  });

  it('leaves a request without an answer', async () => {
    sandbox.faults.add({ verb: 'list', effect: { do: 'hang' } });

    const asked = fetch(`${sandbox.httpUrl}${place}`, { signal: AbortSignal.timeout(150) });

    await expect(asked).rejects.toThrow('timeout');
  });

  it.each([
    ['before', undefined],
    ['after', 'cut-after'],
  ] as const)('cuts the connection %s the work is done', async (when, stored) => {
    sandbox.faults.add({ verb: 'create', effect: { do: 'cut', when } });

    await expect(create(`cut-${when}`)).rejects.toThrow('fetch failed');

    expect(sandbox.api.get(configMaps, `cut-${when}`, 'default')?.metadata?.name).toBe(stored);
  });

  it('drops open watches', async () => {
    const watch = await request('GET', `${place}?watch=1`);
    const other = await request('GET', '/api/v1/pods?watch=1');

    expect(sandbox.faults.dropWatches({ resource: 'configmaps' })).toBe(1);
    await expect(hasEnded(watch)).resolves.toBe(true);
    expect(sandbox.faults.dropWatches()).toBe(1);
    await expect(hasEnded(other)).resolves.toBe(true);
  });
});

function request(method: string, path: string): Promise<Response> {
  return fetch(`${sandbox.httpUrl}${path}`, { method, signal: ending.signal });
}

function create(name: string): Promise<Response> {
  return fetch(`${sandbox.httpUrl}${place}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  });
}

/** True when the stream ends, by itself or with its connection. */
async function hasEnded({ body }: Response): Promise<boolean> {
  const reader = body?.getReader();
  try {
    while ((await reader?.read())?.done === false);
  } catch {
    return true;
  }
  return reader !== undefined;
}
