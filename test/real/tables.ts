import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from '../../lib/sandbox/schema/tables.ts';
import { createClient } from '../contract/api/client.ts';
import { startCluster } from './cluster.ts';
import { readDefinitions } from './tables/definitions.ts';
import { readKinds } from './tables/kinds.ts';

const directory = join(import.meta.dirname, '../../lib/sandbox/schema');
/** Bodies that the API server takes or sends for every kind. */
const common = ['DeleteOptions', 'Status', 'APIResourceList'].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);

/** Writes what the sandbox knows of the served kinds, as the real API server tells it: `node test/real/tables.ts`. */
async function writeTables(): Promise<void> {
  await using cluster = await startCluster();
  const client = createClient(cluster.access);
  const definitions = await readDefinitions(client);
  const kinds = await readKinds(client, definitions);
  client.close();

  const rows = kinds.map((kind) => JSON.stringify(kind));
  write('kinds.json', `[\n${rows.join(',\n')}\n]\n`);
  const entries = Object.entries(definitions.reachable([...kinds.flatMap(schemas), ...common])).map(
    ([name, node]) => `${JSON.stringify(name)}: ${JSON.stringify(node)}`,
  );
  write('definitions.json', `{\n${entries.join(',\n')}\n}\n`);
}

function schemas({ schema, subresources }: Kind): string[] {
  return [schema, ...subresources.flatMap((subresource) => subresource.schema ?? [])];
}

/** One entry per line: a new Kubernetes version then shows as a readable difference. */
function write(name: string, text: string): void {
  writeFileSync(join(directory, name), text);
}

await writeTables();
