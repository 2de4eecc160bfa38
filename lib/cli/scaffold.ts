import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { exists } from './functions.ts';

/** The names that the template carries. */
const template = {
  folder: join(import.meta.dirname, 'template'),
  name: 'function-name',
  variable: 'functionName',
};

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

/** Writes `functions/<name>` under the root: a small function that works, with its tests and README. */
export async function scaffold(name: string, root: string): Promise<readonly string[]> {
  const folder = join(root, 'functions', name);
  const entries = await readdir(template.folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.sort().map(async (file) => {
      const path = join(folder, relative(template.folder, file));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await fill(await readFile(file, 'utf8'), name, path));
      return path;
    }),
  );
}

/** A longer or shorter name may break lines elsewhere, so the result is formatted anew. */
async function fill(text: string, name: string, path: string): Promise<string> {
  const filled = moved(text).replaceAll(template.name, name).replaceAll(template.variable, camelCase(name));
  return format(filled, { ...(await resolveConfig(template.folder)), filepath: path });
}

/** Imports as a file needs them that is one folder nearer to the root, and beside `lib` instead of inside it. */
function moved(text: string): string {
  return text
    .replaceAll(/from '((?:\.\.\/){2,})(?=(?:function|kube|runtime)\/)/g, "from '$1lib/")
    .replaceAll(/from '\.\.\/((?:\.\.\/)+test\/support\/)/g, "from '$1");
}

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
}
