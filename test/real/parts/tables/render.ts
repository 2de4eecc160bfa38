import type { Kind } from '../../../../lib/sandbox/schema/tables.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { readDefinitions } from './definitions.ts';
import { readKinds } from './kinds.ts';

/** Bodies that the API server takes or sends for every kind. */
const common = ['DeleteOptions', 'Status', 'APIResourceList'].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);

/** The texts of the tables by file name. One entry per line: a new Kubernetes version then shows as a readable difference. */
export async function renderTables(client: Client): Promise<Readonly<Record<string, string>>> {
  const definitions = await readDefinitions(client);
  const kinds = await readKinds(client, definitions);
  const rows = kinds.map((kind) => JSON.stringify(kind));
  const entries = Object.entries(definitions.reachable([...kinds.flatMap(schemas), ...common])).map(
    ([name, node]) => `${JSON.stringify(name)}: ${JSON.stringify(node)}`,
  );
  return {
    'kinds.json': `[\n${rows.join(',\n')}\n]\n`,
    'definitions.json': `{\n${entries.join(',\n')}\n}\n`,
  };
}

function schemas({ schema, subresources }: Kind): string[] {
  return [schema, ...subresources.flatMap((subresource) => subresource.schema ?? [])];
}
