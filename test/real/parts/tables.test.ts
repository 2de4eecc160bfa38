import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createClient } from '../../../lib/sandbox/test/contract/client.ts';
import { startCluster } from './cluster.ts';
import { renderTables } from './tables/render.ts';

it('finds the tables of the sandbox as the real API server describes its kinds', async () => {
  await using cluster = await startCluster();
  const client = createClient(cluster.access);

  const rendered = await renderTables(client);
  client.close();

  for (const [name, text] of Object.entries(rendered)) {
    const checkedIn = readFileSync(join(import.meta.dirname, '../../../lib/sandbox/schema', name), 'utf8');
    expect(text.split('\n')).toEqual(checkedIn.split('\n'));
  }
});
