import type { Kind, Kinds } from '../model/kinds.ts';
import type { SchemaNode } from '../schema/tables.ts';
import { isRecord } from '../../base/json.ts';
import { isList } from '../schema/value.ts';

export type Definitions = Readonly<Record<string, SchemaNode>>;

const schemaPrefix = '#/components/schemas/';

/** The index of OpenAPI v3: one document for each group and version. */
export function openApiIndex(kinds: Kinds): object {
  const names = new Set(kinds.all().map(({ group, version }) => rootOf(group, version)));
  const paths = [...names].map((name) => [
    name,
    { serverRelativeURL: `/openapi/v3/${name}?hash=${revisionOf(kinds)}` },
  ]);
  return { paths: Object.fromEntries(paths) as object };
}

/** The OpenAPI v3 document of `api/v1` or `apis/<group>/<version>`; `undefined` when there is none. */
export function openApiV3(kinds: Kinds, definitions: Definitions, name: string): object | undefined {
  const served = kinds.all().filter(({ group, version }) => rootOf(group, version) === name);
  if (served.length === 0) {
    return undefined;
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.3' },
    paths: pathsOf(served, (kind) => ({ $ref: `${schemaPrefix}${definitionOf(kind)}` })),
    components: { schemas: schemasOf(served, definitions, schemaPrefix) },
  };
}

function rootOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

/** Changes when kinds come and go, so that clients do not keep an old document. */
function revisionOf(kinds: Kinds): string {
  return kinds
    .all()
    .reduce(
      (sum, kind) => (sum * 31 + kind.plural.length + kind.group.length * 7 + (kind.isCustom ? 3 : 0)) % 2 ** 32,
      7,
    )
    .toString(16)
    .toUpperCase();
}

function pathsOf(served: readonly Kind[], reference: (kind: Kind) => object): object {
  return Object.fromEntries(
    served.flatMap((kind) => {
      const collection = `/${rootOf(kind.group, kind.version)}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`;
      return [
        [collection, operationsOf(kind, { get: 'list', post: 'create' }, reference)],
        [
          `${collection}/{name}`,
          operationsOf(kind, { get: 'get', put: 'update', patch: 'patch', delete: 'delete' }, reference),
        ],
      ] as const;
    }),
  );
}

function operationsOf(kind: Kind, verbs: Readonly<Record<string, string>>, reference: (kind: Kind) => object): object {
  const { group, version } = kind;
  const offered = Object.entries(verbs).filter(([, verb]) => kind.verbs.includes(verb));
  return Object.fromEntries(
    offered.map(([method, verb]) => [
      method,
      {
        operationId: `${verb}${kind.kind}`,
        parameters: (writeParameters[verb] ?? []).map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
        responses: { 200: { description: 'OK', content: { 'application/json': { schema: reference(kind) } } } },
        'x-kubernetes-action': method,
        'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
      },
    ]),
  );
}

const writeParameters: Readonly<Record<string, readonly string[]>> = {
  create: ['dryRun', 'fieldManager', 'fieldValidation'],
  update: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', 'propagationPolicy'],
};

/** The definitions of the kinds and all that they refer to. */
function schemasOf(served: readonly Kind[], definitions: Definitions, prefix: string): object {
  const schemas: Record<string, unknown> = {};
  const waiting = served.map(definitionOf);
  for (const kind of served.filter(({ isCustom }) => isCustom)) {
    schemas[definitionOf(kind)] = withGroupVersionKind(kind);
  }
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const definition = definitions[name];
    if (definition !== undefined && !(name in schemas)) {
      schemas[name] = rewritten(definition, prefix, (reference) => waiting.push(reference));
    }
  }
  return schemas;
}

function withGroupVersionKind({ openApi = { type: 'object' }, group, version, kind }: Kind): object {
  return { ...openApi, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
}

/** The tables keep references bare and fold `allOf` away; documents want both back. */
function rewritten(node: unknown, prefix: string, found: (reference: string) => void): unknown {
  if (isList(node)) {
    return node.map((item) => rewritten(item, prefix, found));
  }
  if (!isRecord(node)) {
    return node;
  }
  const { $ref, ...rest } = node;
  if (typeof $ref !== 'string') {
    return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, rewritten(value, prefix, found)]));
  }
  found($ref);
  const reference = { $ref: `${prefix}${$ref}` };
  return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
}

/** `io.k8s.api.apps.v1.Deployment`; a custom kind is called `com.example.v1.Widget`. */
function definitionOf({ isCustom, schema, group, version, kind }: Kind): string {
  const custom = [...group.split('.').reverse(), version, kind].join('.');
  return isCustom ? custom : (schema.definition ?? custom);
}
