import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Agent, request } from 'node:http';
import { type Sandbox, startSandbox } from '../../lib/sandbox/sandbox.ts';

const requests = 10_000;
const atOnce = 20;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Reply {
  readonly code: number;
  readonly type: string;
  readonly text: string;
}

let sandbox: Sandbox;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
});

afterAll(async () => {
  agent.destroy();
  await sandbox.close();
});

function send({ method, path, headers, body }: Sent): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { port } = new URL(sandbox.httpUrl);
  const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () =>
      resolve({
        code: incoming.statusCode ?? 0,
        type: incoming.headers['content-type'] ?? '',
        text: Buffer.concat(chunks).toString(),
      }),
    );
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

const junk = fc.oneof(
  fc.constantFrom('', '..', '%2e%2e', '%', '%ff', 'a b', '{}', 'Ä', '__proto__', 'constructor', 'x'.repeat(300)),
  fc.string({ maxLength: 12 }),
);
const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', 'web') }, { weight: 1, arbitrary: junk });
const place = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/default/pods') },
  { weight: 4, arbitrary: fc.constantFrom('/apis/apps/v1/namespaces/default/deployments', '/api/v1/namespaces') },
  { weight: 2, arbitrary: fc.constantFrom('/api/v1/nodes', '/apis/networking.k8s.io/v1/namespaces/default/ingresses') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', '/api/v1/services'),
  },
  { weight: 1, arbitrary: fc.constantFrom('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '/openapi/v3') },
  { weight: 1, arbitrary: fc.array(junk, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`) },
);
const tail = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 4, arbitrary: name.map((each) => `/${each}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(name, fc.constantFrom('status', 'scale', 'eviction', 'log', 'nope'))
      .map((pair) => `/${pair.join('/')}`),
  },
);
const parameter = fc.tuple(
  fc.constantFrom(
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'force',
    'propagationPolicy',
    'gracePeriodSeconds',
    'pretty',
    'sendInitialEvents',
  ),
  fc.oneof(
    fc.constantFrom('1', '0', '-1', 'All', 'Strict', 'Exact', 'Foreground', 'a=b', 'metadata.name=a', 'a in (', 'true'),
    junk,
  ),
);
const query = fc.array(parameter, { maxLength: 3 }).map((pairs) => new URLSearchParams(pairs).toString());
const metadata = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name }, { requiredKeys: [] }) },
  {
    weight: 2,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'name',
        'namespace',
        'labels',
        'annotations',
        'finalizers',
        'ownerReferences',
        'resourceVersion',
        'uid',
        'generateName',
        'managedFields',
        'deletionTimestamp',
      ),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
);
const object = fc.record(
  {
    apiVersion: fc.constantFrom<unknown>('v1', 'apps/v1', 'nope/v9', 7),
    kind: fc.constantFrom<unknown>('ConfigMap', 'Deployment', 'Pod', 'Nope', null),
    metadata,
    spec: fc.jsonValue({ maxDepth: 3 }),
    data: fc.jsonValue({ maxDepth: 2 }),
    status: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);
const operation = fc.record({
  op: fc.constantFrom<unknown>('add', 'remove', 'replace', 'test', 'move', 'copy', 'nope', 3),
  path: fc.oneof(
    fc.constantFrom('/metadata/labels/a', '/data', '/spec/replicas', '/metadata', '', '/metadata/name'),
    junk,
  ),
  from: fc.constantFrom<unknown>('/data', '/nope', 5),
  value: fc.jsonValue({ maxDepth: 2 }),
});
const body = fc.oneof(
  { weight: 6, arbitrary: object.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.array(operation, { maxLength: 4 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '{', '[', 'a: b\n- c', 'k8s\0\n\x7f', '{"a":1,"a":2}') },
);
const contentType = fc.constantFrom(
  ...['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'text/plain', ''],
  ...['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'],
  'application/apply-patch+yaml',
);
const wildRequest: fc.Arbitrary<Sent> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'),
    place,
    tail,
    query,
    contentType,
    accept: fc.constantFrom(
      'application/json',
      '*/*',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/yaml',
      'image/png',
    ),
    body,
  })
  .map(({ method, place: start, tail: end, query: search, contentType: type, accept, body: text }) => ({
    method,
    path: encodeURI(start + end).replaceAll('%25', '%') + (search === '' ? '' : `?${search}`),
    headers: { accept, 'content-type': type, 'content-length': String(Buffer.byteLength(text)) },
    body: text,
  }));

const kinds = [
  { path: '/api/v1/namespaces/default/configmaps', object: { data: { a: '1' } } },
  { path: '/api/v1/namespaces/default/services', object: { spec: { ports: [{ port: 80 }] } } },
  {
    path: '/apis/apps/v1/namespaces/default/deployments',
    object: {
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'a' } },
        template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      },
    },
  },
];
const writes = [
  ['POST', 'application/json'],
  ['PUT', 'application/json'],
  ['PATCH', 'application/merge-patch+json'],
  ['PATCH', 'application/strategic-merge-patch+json'],
  ['PATCH', 'application/apply-patch+yaml'],
  ['DELETE', 'application/json'],
] as const;

/** Sound but for at most one field, so that much of it gets past the first checks. */
const nearlySound: fc.Arbitrary<Sent> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    write: fc.constantFrom(...writes),
    name: fc.constantFrom('a', 'b', 'c'),
    twist: fc.dictionary(
      fc.constantFrom(
        'metadata',
        'spec',
        'data',
        'status',
        'kind',
        'apiVersion',
        'labels',
        'finalizers',
        'preconditions',
      ),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), metadata),
      { maxKeys: 1 },
    ),
    query: fc.oneof({ weight: 3, arbitrary: fc.constant('fieldManager=fuzz') }, { weight: 1, arbitrary: query }),
  })
  .map(({ kind, write: [method, type], name: called, twist, query: search }) => {
    const isGroupless = kind.path.startsWith('/api/v1');
    const typed = type.includes('apply')
      ? { apiVersion: isGroupless ? 'v1' : 'apps/v1', kind: kindName(kind.path) }
      : {};
    const text =
      method === 'DELETE'
        ? JSON.stringify(twist)
        : JSON.stringify({ ...typed, metadata: { name: called }, ...kind.object, ...twist });
    return {
      method,
      path: `${kind.path}${method === 'POST' ? '' : `/${called}`}?${search}`,
      headers: { accept: 'application/json', 'content-type': type, 'content-length': String(Buffer.byteLength(text)) },
      body: text,
    };
  });

function kindName(path: string): string {
  const plural = path.slice(path.lastIndexOf('/') + 1);
  return { configmaps: 'ConfigMap', services: 'Service', deployments: 'Deployment' }[plural] ?? '';
}

const anyRequest = fc.oneof(wildRequest, nearlySound);

/** What the real API server answers with 500 as well: an apply that does not fit the schema. */
function isUntypedApply({ code, text }: Reply): boolean {
  return code === 500 && text.includes('failed to create typed patch object');
}

function complaint(sent: Sent, reply: Reply): string | undefined {
  const isBroken =
    reply.code < 200 || (reply.code >= 500 && ![501, 504].includes(reply.code) && !isUntypedApply(reply));
  if (!isBroken && (reply.code < 400 || isTold(sent, reply))) {
    return undefined;
  }
  const what = `${sent.method} ${sent.path} [${sent.headers['content-type'] ?? ''}] ${sent.body}`;
  return `${what}\n  → ${reply.code} ${reply.type} ${reply.text.slice(0, 300)}`;
}

/** Refusals carry a Status; only paths outside the API are refused in plain text. */
function isTold({ method }: Sent, { code, type, text }: Reply): boolean {
  if (method === 'HEAD' || (code === 404 && text === '404 page not found\n')) {
    return true;
  }
  return type === 'application/json' && (JSON.parse(text) as { kind?: string }).kind === 'Status';
}

describe('bad input', () => {
  it(`answers ${requests} generated requests soundly and lives on`, async () => {
    const all = fc.sample(anyRequest, { numRuns: requests, seed: 20_261_116 });
    const complaints: string[] = [];
    const codes = new Map<number, number>();

    for (let index = 0; index < all.length; index += atOnce) {
      const batch = all.slice(index, index + atOnce);
      const replies = await Promise.all(batch.map(send));
      for (const [position, reply] of replies.entries()) {
        const sent = batch[position];
        codes.set(reply.code, (codes.get(reply.code) ?? 0) + 1);
        complaints.push(...(sent === undefined ? [] : [complaint(sent, reply)]).filter((text) => text !== undefined));
      }
    }

    expect(complaints.slice(0, 5)).toEqual([]);
    expect([...codes.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 405, 406, 409, 415, 422]));
    expect((await send({ method: 'GET', path: '/readyz', headers: {}, body: '' })).text).toBe('ok');
  });

  it('refuses a body beyond 3 MiB and serves the next request', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const headers = { 'content-type': 'application/json' };

    const refused = await send({ method: 'POST', path, headers, body: ' '.repeat(3 * 1024 * 1024 + 1) });

    expect(refused.code).toBe(413);
    expect(JSON.parse(refused.text)).toMatchObject({ kind: 'Status', reason: 'RequestEntityTooLarge' });
    expect((await send({ method: 'GET', path, headers: {}, body: '' })).code).toBe(200);
  });
});
