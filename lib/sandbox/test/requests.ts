import fc from 'fast-check';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

/** Requests of every kind: wild ones, and ones that are almost right. */
export const anyRequest = fc.oneof(wildRequest, nearlySound);
