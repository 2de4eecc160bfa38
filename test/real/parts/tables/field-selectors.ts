import type { SchemaNode } from '../../../../lib/sandbox/schema/tables.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import type { Definitions } from './definitions.ts';

/** Paths that a kind's field selectors know although its schema has no such field. */
const beyondSchema = ['source', 'reportingComponent', 'status.replicas', 'status.successful'];

/**
 * The field selectors of a kind are published nowhere, so every path that could be one is tried:
 * the server refuses those it does not know.
 */
export async function fieldSelectors(
  client: Client,
  path: string,
  { schema, definitions }: { readonly schema: string; readonly definitions: Definitions },
): Promise<string[]> {
  const scalars = scalarPaths(definitions, definitions.node(schema), 2);
  const candidates = [...new Set([...scalars, ...beyondSchema, 'metadata.name', 'metadata.namespace'])];
  const known = await Promise.all(
    candidates.map(async (field) => {
      const reply = await client.call('GET', path, { query: { fieldSelector: `${field}=1`, limit: 1 } });
      return reply.code === 200;
    }),
  );
  return candidates.filter((_, index) => known[index]).sort();
}

function scalarPaths(definitions: Definitions, node: SchemaNode, depth: number): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    const target = property.$ref === undefined ? property : definitions.node(property.$ref);
    if (target.properties !== undefined) {
      return depth > 1 ? scalarPaths(definitions, target, depth - 1).map((inner) => `${name}.${inner}`) : [];
    }
    return target.type === 'array' || target.type === 'object' ? [] : [name];
  });
}
