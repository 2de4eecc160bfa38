import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { placesOf } from './binaries.ts';
import type { AnyManifest } from '../../support/manifests.ts';
import { products, type ProductName } from './parts.ts';

/** The manifests in a folder of a product's own module, say its CRDs: `config/core/resources`. */
export function moduleManifests(product: ProductName, folder: string): AnyManifest[] {
  const directory = moduleFolder(product, folder);
  return readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => parseAllDocuments(readFileSync(join(directory, name), 'utf8')))
    .map((document) => document.toJS() as AnyManifest | null)
    .filter((manifest) => manifest !== null);
}

/**
 * Where the files of a folder of a product's own module are. The folder at the top is kept beside the programs that
 * were built from the module, so that it too serves a machine without Go; it is filled the first time.
 */
export function moduleFolder(product: ProductName, folder: string): string {
  const { version } = products[product];
  const [top = ''] = folder.split('/');
  const kept = join(placesOf(process.env).cache, `${product}-${version}-${top}`);
  if (!existsSync(kept)) {
    mkdirSync(dirname(kept), { recursive: true });
    const fresh = mkdtempSync(`${kept}-`);
    cpSync(join(moduleSource(product), top), join(fresh, top), { recursive: true });
    settle(fresh, kept);
  }
  return join(kept, folder);
}

/** Whoever comes first wins; the copies are equal. */
function settle(fresh: string, kept: string): void {
  try {
    renameSync(fresh, kept);
  } catch (error) {
    if (!existsSync(kept)) {
      throw error;
    }
  }
}

function moduleSource(product: ProductName): string {
  const { module, version } = products[product];
  const pinned = join(import.meta.dirname, 'modules', product);
  const text = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    cwd: existsSync(pinned) ? pinned : tmpdir(),
    encoding: 'utf8',
  });
  return (JSON.parse(text) as { Dir: string }).Dir;
}
