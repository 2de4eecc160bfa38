import type { SchemaNode } from '../../../../lib/sandbox/schema/tables.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { apiPath, served } from './served.ts';

export interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Definitions {
  /** The name of the definition of a kind. */
  nameOf(gvk: Gvk): string;
  node(name: string): SchemaNode;
  /** The named definitions and all that they refer to, sorted by name. */
  reachable(names: readonly string[]): Record<string, SchemaNode>;
}

interface Published extends SchemaNode {
  readonly allOf?: readonly { readonly $ref?: string }[];
}

const prefix = '#/components/schemas/';
const kept: readonly (keyof SchemaNode)[] = [
  ...(['type', 'format', 'enum', 'default', 'required'] as const),
  ...(['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'] as const),
  ...(['x-kubernetes-patch-strategy', 'x-kubernetes-patch-merge-key'] as const),
  ...(['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-group-version-kind', 'x-kubernetes-unions'] as const),
];
/** Kinds of Go types whose wire form the published `oneOf` only hints at. */
const scalars: Readonly<Record<string, SchemaNode>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { format: 'int-or-string', 'x-kubernetes-int-or-string': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { format: 'quantity' },
};

/** Reads the definitions of all served groups, without descriptions. */
export async function readDefinitions(client: Client): Promise<Definitions> {
  const nodes: Record<string, SchemaNode> = {};
  for (const groupVersion of Object.keys(served)) {
    const { text } = await client.call('GET', `/openapi/v3/${apiPath(groupVersion)}`);
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, Published> } };
    for (const [name, published] of Object.entries(components.schemas)) {
      nodes[name] = scalars[name] ?? compact(published);
    }
  }
  function node(name: string): SchemaNode {
    const found = nodes[name];
    if (found === undefined) {
      throw new Error(`no definition named ${name}`);
    }
    return found;
  }
  function reachable(names: readonly string[]): Record<string, SchemaNode> {
    const found = new Set<string>();
    const open = [...names];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (!found.has(name)) {
        found.add(name);
        open.push(...references(node(name)));
      }
    }
    return Object.fromEntries([...found].sort().map((name) => [name, node(name)]));
  }
  return { nameOf: (gvk) => definitionOf(nodes, gvk), node, reachable };
}

function definitionOf(nodes: Readonly<Record<string, SchemaNode>>, { group, version, kind }: Gvk): string {
  const names = Object.entries(nodes)
    .filter(([, node]) =>
      node['x-kubernetes-group-version-kind']?.some(
        (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
      ),
    )
    .map(([name]) => name);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new Error(`${String(names.length)} definitions of ${group}/${version} ${kind}`);
  }
  return name;
}

/** Keeps the facts of a node in a fixed order, so that the output only changes when a fact does. */
function compact(published: Published): SchemaNode {
  const reference = published.$ref ?? published.allOf?.[0]?.$ref;
  const { properties, items, additionalProperties } = published;
  return {
    ...(reference === undefined ? {} : { $ref: reference.replace(prefix, '') }),
    ...Object.fromEntries(kept.filter((key) => published[key] !== undefined).map((key) => [key, published[key]])),
    ...(properties === undefined ? {} : { properties: compactAll(properties) }),
    ...(items === undefined ? {} : { items: compact(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: compact(additionalProperties) }),
  };
}

function compactAll(properties: Readonly<Record<string, SchemaNode>>): Record<string, SchemaNode> {
  const names = Object.keys(properties).sort();
  return Object.fromEntries(names.map((name) => [name, compact(properties[name] ?? {})]));
}

function references({ $ref, properties = {}, items, additionalProperties }: SchemaNode): string[] {
  const inner = [...Object.values(properties), items, additionalProperties].filter((node) => node !== undefined);
  return [...($ref === undefined ? [] : [$ref]), ...inner.flatMap(references)];
}
