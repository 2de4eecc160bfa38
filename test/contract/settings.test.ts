import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { foldersUnderTest } from './functions.ts';

// Functions with webhooks share the settings of certificates, which have a page of their own.
const shared = readFileSync('lib/tls/README.md', 'utf8');
const pages = (await foldersUnderTest())
  .map(({ definition, folder }) => ({ ...definition, page: join(folder, 'README.md') }))
  .filter(({ page }) => existsSync(page));

describe.each(pages)('the README of $name', ({ config, page }) => {
  const text = readFileSync(page, 'utf8') + shared;

  it('names every setting of the function', () => {
    expect(Object.keys(config._zod.def.shape).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
