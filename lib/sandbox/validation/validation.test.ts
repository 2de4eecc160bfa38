import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { withDefaults } from '../defaults/defaults.ts';
import { normalize } from '../schema/normalize.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable, readKindTable, type Kind } from '../schema/tables.ts';
import { invalid } from '../model/status.ts';
import { validate } from './validation.ts';

/** A create that was sent to the real API server; without message it was accepted. */
interface Sample {
  readonly name: string;
  readonly path: string;
  readonly body: KubeObject;
  readonly message?: string;
  readonly causes?: readonly (readonly [string, string])[];
}

const samples = JSON.parse(
  readFileSync(new URL('../testdata/validation.json', import.meta.url), 'utf8'),
) as readonly Sample[];
const schemas = createSchemas(readDefinitionTable());
const kinds = readKindTable();

function kindOf(path: string): Kind {
  const [, root, group, version] = path.split('/');
  const kind = kinds.find(
    (entry) =>
      path.endsWith(`/${entry.plural}`) &&
      (root === 'api' ? entry.group === '' : entry.group === group && entry.version === version),
  );
  if (kind === undefined) {
    throw new Error(`no kind at ${path}`);
  }
  return kind;
}

it.each(samples)('judges as the API server does: $name', ({ path, body, message, causes = [] }) => {
  const kind = kindOf(path);
  const schema = schemas.of(kind.schema);
  const placed = { ...body, metadata: { ...body.metadata, ...(kind.namespaced ? { namespace: 'default' } : {}) } };
  const object = withDefaults(normalize(placed, schema), schema);

  const found = validate({ kind, object });

  expect(found.map(({ field, reason }) => [field, reason])).toEqual(causes);
  if (message !== undefined) {
    expect(invalid(kind, body.metadata?.name ?? '', found).message).toBe(message);
  }
});

it.each([
  [
    { spec: { selector: { matchLabels: { a: 'b' } } } },
    { spec: { selector: { matchLabels: { a: 'c' } } } },
    { group: 'apps', kind: 'DaemonSet' },
    'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
  ],
  [
    { immutable: true, data: { a: 'b' } },
    { immutable: true, data: { a: 'c' } },
    { group: '', kind: 'ConfigMap' },
    'data: Forbidden: field is immutable when `immutable` is set',
  ],
  [
    { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' } },
    { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'z' } },
    { group: 'rbac.authorization.k8s.io', kind: 'RoleBinding' },
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"z"}: cannot change roleRef',
  ],
  [
    { spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: [{ port: 1 }] } },
    { spec: { clusterIP: '10.96.1.1', clusterIPs: ['10.96.1.1'], ports: [{ port: 1 }] } },
    { group: '', kind: 'Service' },
    'spec.clusterIPs[0]: Invalid value: ["10.96.1.1"]: may not change once set',
  ],
])('keeps what must not change: %j → %j', (old, object, kind, message) => {
  const texts = validate({ kind, object: { metadata: {}, ...object }, old: { metadata: {}, ...old } }).map(
    (cause) => `${cause.field ?? ''}: ${cause.message}`,
  );

  expect(texts).toContain(message);
});

it('lets the status of an object pass that its spec would not let pass', () => {
  const kind = { group: 'apps', kind: 'Deployment' };
  const object = { metadata: { name: 'a' }, status: {} };

  expect(validate({ kind, object, old: object, subresource: 'status' })).toEqual([]);
});
