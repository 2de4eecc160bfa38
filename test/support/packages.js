import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, version } from 'esbuild';
import 'reflect-metadata'; // @peculiar/x509 does not load without it
import { boundGlobals } from './globals.js';

/**
 * Jest loads every file of every package anew for each suite. The Kubernetes client alone has 870 files, which cost a
 * suite more than its tests do. So packages are bundled, once for each state of the lock file. Of the client, like in
 * the images, only its configuration is there.
 */
const packages = {
  '@kubernetes/client-node': '@kubernetes/client-node/dist/config.js',
  '@marcbachmann/cel-js': '@marcbachmann/cel-js',
  '@peculiar/x509': '@peculiar/x509',
  cloudevents: 'cloudevents',
  express: 'express',
  '.*/node_modules/fast-check/lib/fast-check.js': 'fast-check',
  'fast-json-patch': 'fast-json-patch',
  pino: 'pino',
  'prom-client': 'prom-client',
  'reflect-metadata': 'reflect-metadata',
  yaml: 'yaml',
  zod: 'zod',
  'zod/mini': 'zod/mini',
  'zod/v4/core': 'zod/v4/core',
};

const root = resolve(import.meta.dirname, '../..');

/** CommonJS packages require parts of Node; everything else is in the bundles. */
const requiring = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const options = {
  bundle: true,
  splitting: true,
  keepNames: true,
  minifyWhitespace: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  logLevel: 'error',
  define: boundGlobals.define,
  banner: { js: `${requiring}\n${boundGlobals.banner}` },
};

/** For jest's `moduleNameMapper`: the one file of each package. */
export async function bundledPackages() {
  const lock = await readFile(join(root, 'package-lock.json'));
  const recipe = JSON.stringify([version, options, packages]);
  const key = createHash('sha256').update(recipe).update(lock).digest('hex').slice(0, 16);
  const folder = join(root, 'node_modules/.cache/kube-reflex', key);
  if (!existsSync(folder)) {
    await bundleInto(folder);
  }
  return Object.fromEntries(
    Object.entries(packages).map(([name, source]) => [`^${name}$`, join(folder, `${fileOf(source)}.mjs`)]),
  );
}

async function bundleInto(folder) {
  const draft = `${folder}.${process.pid}`;
  await mkdir(dirname(folder), { recursive: true });
  await build({
    ...options,
    entryPoints: Object.values(packages).map((source) => ({ in: source, out: fileOf(source) })),
    outdir: draft,
    plugins: [{ name: 'named exports', setup: nameExports }],
  });
  await rename(draft, folder).catch(() => rm(draft, { recursive: true })); // another run was first
}

/** The bundle of a CommonJS package has only a default export, so each entry names what Node finds in the package. */
function nameExports(builder) {
  builder.onResolve({ filter: /.*/ }, ({ kind, path }) =>
    kind === 'entry-point' ? { path, namespace: 'entry' } : undefined,
  );
  builder.onLoad({ filter: /.*/, namespace: 'entry' }, async ({ path }) => {
    const names = Object.keys(await import(path)).filter((name) => name !== 'module.exports');
    return { contents: `export { ${names.join()} } from '${path}'; import '${path}';`, resolveDir: root };
  });
}

function fileOf(source) {
  return source.replaceAll('/', '-');
}
