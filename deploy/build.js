import { glob, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bundle, bundlePrograms, bundleSelect } from './bundle.ts';

/**
 * `node deploy/build.js [--out dist] [folder…]`: one minified file for each function under `functions/` and folder given,
 * the programs that run beside them, and `kube-reflex.cjs` that starts the one asked for.
 */
const root = resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
const out = resolve(values.out ?? join(root, 'dist'));

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await bundleSelect(out);
const folders = [...(await functionFolders()), ...positionals];
const functions = await Promise.all(folders.map((folder) => bundle(folder, out)));
const bundles = [...functions, ...(await bundlePrograms(out))];
const sizes = await Promise.all(
  bundles.map(async ({ name, file, bytes }) => ({
    program: name,
    bytes,
    gzip: gzipSync(await readFile(file)).length,
  })),
);
console.table(sizes);

async function functionFolders() {
  const definitions = await Array.fromAsync(glob('functions/*/index.ts', { cwd: root }));
  return definitions.sort().map((file) => join(root, dirname(file)));
}
