import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { exists } from './functions.ts';

/** The name that the template carries, and where `lib` is from there. */
const template = { folder: join(import.meta.dirname, 'template'), name: 'function-name', lib: join('..', '..') };

const kebabCase = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const longestName = 40;

/** Paths that every process serves, and files and objects that all functions share. */
const reserved = ['health', 'healthz', 'livez', 'readyz', 'metrics', 'broker', 'kustomization', 'dead-letters'];

/** Why a function can't have this name, in the words that a person gets to see. */
export async function nameProblem(name: string, root: string): Promise<string | undefined> {
  if (!kebabCase.test(name) || name.includes('--')) {
    return `"${name}" is not a name for a function: use small letters, digits and single dashes, as in "my-function"`;
  }
  if (name.length > longestName) {
    return `"${name}" has ${name.length} characters: at most ${longestName} leave room for the names made from it`;
  }
  if (reserved.includes(name) || name === template.name) {
    return `"${name}" is taken by kube-reflex itself`;
  }
  return (await exists(join(root, 'functions', name))) ? `functions/${name} exists already` : undefined;
}

/** Writes `functions/<name>` under the root: a small function that works, with its test and README. */
export async function scaffold(name: string, root: string): Promise<readonly string[]> {
  const folder = join(root, 'functions', name);
  const entries = await readdir(template.folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template.folder, join(entry.parentPath, entry.name)))
    .sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await fill(await readFile(join(template.folder, file), 'utf8'), name, { file, path }));
      return path;
    }),
  );
}

/** A longer or shorter name may break lines elsewhere, so the result is formatted anew. */
async function fill(
  text: string,
  name: string,
  { file, path }: { readonly file: string; readonly path: string },
): Promise<string> {
  const lib = join(relative(dirname(file), '.'), template.lib);
  const filled = text.replaceAll(template.name, name).replaceAll(`from '${lib}/`, `from '${lib}/lib/`);
  return format(filled, { ...(await resolveConfig(template.folder)), filepath: path });
}
