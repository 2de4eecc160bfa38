import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import { startCluster } from './cluster.ts';
import { renderTables } from './tables/render.ts';

/** Writes what the sandbox knows of the served kinds, as the real API server reports it: `node test/real/parts/tables.ts`. */
async function writeTables(): Promise<void> {
  await using cluster = await startCluster();
  const client = createClient(cluster.access);
  for (const [name, text] of Object.entries(await renderTables(client))) {
    writeFileSync(join(import.meta.dirname, '../../../lib/sandbox/schema', name), text);
  }
  client.close();
}

await writeTables();
