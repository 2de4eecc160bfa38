import { describe, expect, it } from '@jest/globals';
import { configMaps, pods } from '../../lib/kube/model/resource.ts';
import { cluster, json, status, type Script } from '../../lib/kube/testing/scripted.ts';

describe('reading the cluster', () => {
  it('keeps fields that the model does not know', async () => {
    const object = {
      metadata: { name: 'a', futureField: 1 },
      spec: { containers: [{ name: 'c', brandNew: { x: [1] } }] },
    };
    const { kube } = await cluster((_request, response) => json(response, 200, object));

    expect(await kube.get(pods, { namespace: 'default', name: 'a' })).toEqual(object);
  });

  it('returns undefined for an object that does not exist', async () => {
    const { kube } = await cluster((_request, response) => status(response, 404, 'NotFound'));

    expect(await kube.get(pods, { namespace: 'default', name: 'a' })).toBeUndefined();
  });

  it.each([
    ['a missing object', '{"kind":"Status","reason":"NotFound","details":{"name":"x","kind":"nothings"}}', 'none'],
    ['a group that is not there', '404 page not found\n', 'refused'],
    ['a kind that is not there', '{"kind":"Status","reason":"NotFound","details":{}}', 'refused'],
  ])('distinguishes a missing object from a kind that is not served: %s', async (_what, text, outcome) => {
    const { kube } = await cluster((_request, response) => response.writeHead(404).end(text));
    const served = kube.getServed(configMaps, { namespace: 'shop', name: 'x' });

    expect(
      await served.then(
        () => 'none',
        () => 'refused',
      ),
    ).toBe(outcome);
    expect(await kube.get(configMaps, { namespace: 'shop', name: 'x' })).toBeUndefined();
  });

  it('escapes names in paths', async () => {
    const paths: (string | undefined)[] = [];
    const { kube } = await cluster(({ url }, response) => {
      paths.push(url);
      json(response, 200, {});
    });

    await kube.get(pods, { namespace: 'a b', name: '../x?y' });

    expect(paths).toEqual(['/api/v1/namespaces/a%20b/pods/..%2Fx%3Fy']);
  });

  it('uses one connection for many calls and counts each', async () => {
    const connections = new Set<unknown>();
    const { kube, calls } = await cluster((request, response) => {
      connections.add(request.socket);
      json(response, 200, { metadata: {} });
    });

    for (let n = 0; n < 50; n += 1) {
      await kube.get(pods, { namespace: 'default', name: 'a' });
    }

    expect(connections.size).toBe(1);
    expect(calls).toHaveLength(50);
    expect(calls[0]).toMatchObject({ verb: 'get', resource: 'pods', code: 200, sentBytes: 0, receivedBytes: 15 });
  });

  it('reads all pages of one snapshot', async () => {
    const { kube } = await cluster(({ url = '' }, response) => {
      const from = Number(new URL(url, 'http://x').searchParams.get('continue') ?? 0);
      const more = from < 4 ? { continue: String(from + 2) } : {};
      json(response, 200, { metadata: { resourceVersion: '7', ...more }, items: [{ n: from }, { n: from + 1 }] });
    });

    expect(await kube.list(pods, { pageSize: 2 })).toEqual({
      resourceVersion: '7',
      items: [0, 1, 2, 3, 4, 5].map((n) => ({ n })),
    });
  });

  it('restarts a list whose snapshot has expired, without mixing the two', async () => {
    let lists = 0;
    const { kube } = await cluster(({ url = '' }, response) => {
      if (new URL(url, 'http://x').searchParams.has('continue')) {
        return lists === 1
          ? status(response, 410, 'Expired')
          : json(response, 200, { metadata: { resourceVersion: '9' }, items: [{ n: 'b2' }] });
      }
      lists += 1;
      return json(response, 200, {
        metadata: { resourceVersion: String(lists), continue: 'x' },
        items: [{ n: `a${lists}` }],
      });
    });

    expect(await kube.list(pods)).toEqual({ resourceVersion: '9', items: [{ n: 'a2' }, { n: 'b2' }] });
  });

  it('reads only one object to check existence', async () => {
    const asked: (string | undefined)[] = [];
    const { kube } = await cluster(({ url }, response) => {
      asked.push(url);
      json(response, 200, { metadata: { resourceVersion: '1', continue: 'more' }, items: [{ metadata: {} }] });
    });

    expect(await kube.exists(pods, { labelSelector: 'a=b' })).toBe(true);
    expect(asked).toEqual(['/api/v1/pods?labelSelector=a%3Db&limit=1']);
  });

  it('asks for metadata only', async () => {
    const accepts: (string | undefined)[] = [];
    const { kube } = await cluster(({ headers }, response) => {
      accepts.push(headers.accept);
      json(response, 200, { metadata: { resourceVersion: '1' }, items: null });
    });

    expect(await kube.listMetadata(pods)).toEqual({ resourceVersion: '1', items: [] });
    expect(accepts).toEqual(['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1']);
  });
});

describe('large objects and shared time', () => {
  it('returns the time of the server at its last answer', async () => {
    const dates = ['Thu, 01 Jan 2026 00:00:00 GMT', 'Thu, 01 Jan 2026 00:00:02 GMT'];
    const { kube } = await cluster((_request, response) => {
      response.setHeader('date', dates.shift() ?? '');
      json(response, 200, {});
    });
    const before = kube.serverTime();
    await kube.get(pods, { namespace: 'default', name: 'a' });
    const first = kube.serverTime();
    await kube.get(pods, { namespace: 'default', name: 'a' });

    expect([before, first, kube.serverTime()]).toEqual([
      undefined,
      new Date('2026-01-01T00:00:00Z'),
      new Date('2026-01-01T00:00:02Z'),
    ]);
  });

  it('asks only for metadata if a step is brief', async () => {
    const asked: (string | undefined)[] = [];
    const { kube } = await cluster(({ headers }, response) => {
      asked.push(headers.accept);
      json(response, 200, { metadata: { resourceVersion: '2' } });
    });
    const place = { resource: configMaps, namespace: 'default', name: 'a', why: 'test' };

    await kube.run({
      steps: [
        { do: 'patch', ...place, operations: [], brief: true },
        { do: 'patch', ...place, operations: [] },
      ],
    });

    expect(asked).toEqual(['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'application/json']);
  });
});

describe('errors of the API server', () => {
  it.each([
    [403, 'Forbidden', 'impossible'],
    [400, 'BadRequest', 'impossible'],
    [429, 'TooManyRequests', 'throttled'],
    [500, 'InternalError', 'unavailable'],
    [503, 'ServiceUnavailable', 'unavailable'],
  ])('turns %i into a failure whose kind says whether a retry helps', async (code, reason, kind) => {
    const { kube } = await cluster((_request, response) => status(response, code, reason));

    await expect(kube.list(pods)).rejects.toMatchObject({ kind, code, reason });
  });

  it('can retry after a missing right, as while an API server starts', async () => {
    const message = 'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods" in API group ""';
    const { kube } = await cluster((_request, response) =>
      json(response, 403, { kind: 'Status', reason: 'Forbidden', message }),
    );

    await expect(kube.list(pods)).rejects.toMatchObject({ kind: 'unavailable', code: 403 });
  });

  it('waits as long as the server asks, if that is short', async () => {
    let tries = 0;
    const { kube, calls } = await cluster((_request, response) => {
      tries += 1;
      return tries < 3
        ? status(response.setHeader('retry-after', '0'), 429, 'TooManyRequests')
        : json(response, 200, {});
    });

    await kube.get(pods, { namespace: 'default', name: 'a' });

    expect(calls.map(({ code }) => code)).toEqual([429, 429, 200]);
  });

  it('passes a longer wait on instead of delaying the event', async () => {
    const { kube, calls } = await cluster((_request, response) =>
      status(response.setHeader('retry-after', '9'), 429, 'TooManyRequests'),
    );

    await expect(kube.get(pods, { namespace: 'default', name: 'a' })).rejects.toMatchObject({
      kind: 'throttled',
      retryAfter: 9,
    });
    expect(calls).toHaveLength(1);
  });

  it('repeats a read whose kept connection the server just closed', async () => {
    let served = 0;
    const { kube } = await cluster((request, response) => {
      served += 1;
      return served === 2 ? request.socket.destroy() : json(response, 200, { served });
    });

    await kube.get(pods, { namespace: 'default', name: 'a' });

    expect(await kube.get(pods, { namespace: 'default', name: 'a' })).toEqual({ served: 3 });
  });

  it('never repeats a write by itself', async () => {
    let served = 0;
    const { kube } = await cluster((request, response) => {
      served += 1;
      return served === 2 ? request.socket.destroy() : json(response, 200, {});
    });
    const step = {
      do: 'create',
      resource: configMaps,
      object: { metadata: { namespace: 'default', name: 'a' } },
      why: 'test',
    } as const;

    await kube.run({ steps: [step] });

    await expect(kube.run({ steps: [step] })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(served).toBe(2);
  });

  it('reads the credentials again when they are refused', async () => {
    const tokens: (string | undefined)[] = [];
    const { kube } = await cluster(
      ({ headers }, response) => {
        tokens.push(headers.authorization);
        return headers.authorization === 'Bearer 2' ? json(response, 200, {}) : status(response, 401, 'Unauthorized');
      },
      { token: (n) => `Bearer ${n}` },
    );

    await kube.get(pods, { namespace: 'default', name: 'a' });

    expect(tokens).toEqual(['Bearer 1', 'Bearer 2']);
  });

  it.each([
    ['no answer', () => undefined],
    ['half an answer', (_request, response) => response.writeHead(200, { 'content-length': '100' }).write('{')],
  ] satisfies [string, Script][])('gives up after its deadline on %s', async (_what, script) => {
    const { kube, calls } = await cluster(script, { deadlineMs: 50 });

    await expect(kube.get(pods, { namespace: 'default', name: 'a' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('no answer in time'),
    });
    expect(calls).toMatchObject([{ code: 0 }]);
  });

  it('ends when its run is aborted', async () => {
    const { kube } = await cluster(() => undefined, { signal: AbortSignal.timeout(20) });

    await expect(kube.get(pods, { namespace: 'default', name: 'a' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('the run was aborted'),
    });
  });
});
