import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { isGenerated } from './file.ts';

const kustomization = 'kustomization.yaml';

/** The expected content of one folder of an installation. */
export interface Folder {
  /** The text of each file by name. */
  readonly files: ReadonlyMap<string, string>;
  /** The kustomization, given the names of all other files, including those written by hand. */
  readonly kustomization?: (names: readonly string[]) => string;
}

/** How an installation differs from the definitions; paths are relative to its root. */
export interface Drift {
  /** The text of each missing or different file, by path. */
  readonly write: ReadonlyMap<string, string>;
  /** Generated files that are no longer needed. */
  readonly remove: readonly string[];
}

/** Compares folders with their expected content. Files written by hand stay, and are listed with the others. */
export async function driftOf(root: string, folders: ReadonlyMap<string, Folder>): Promise<Drift> {
  const present = await filesUnder(root);
  const byHand = [...present].filter(([, text]) => !isGenerated(text)).map(([path]) => path);
  const wanted = new Map([...folders].flatMap(([folder, content]) => filesOf(folder, content, byHand)));
  for (const path of byHand.filter((each) => wanted.has(each))) {
    throw new Error(`could not write ${join(root, path)}: a file of that name was written by hand; rename it`);
  }
  return {
    write: new Map([...wanted].filter(([path, text]) => present.get(path) !== text)),
    remove: [...present.keys()].filter((path) => !byHand.includes(path) && !wanted.has(path)),
  };
}

function filesOf(folder: string, { files, kustomization: listing }: Folder, byHand: readonly string[]) {
  const beside = byHand
    .filter((path) => dirname(path) === normalize(folder))
    .map((path) => path.split('/').at(-1) ?? '');
  const own = [...files].map(([name, text]): [string, string] => [join(folder, name), text]);
  if (listing === undefined) {
    return own;
  }
  const names = [...beside, ...files.keys()].filter((name) => name !== kustomization).sort();
  return [...own, [join(folder, kustomization), listing(names)] as [string, string]];
}

/** Writes and removes the files that differ. */
export async function repair(root: string, { write, remove }: Drift): Promise<void> {
  for (const [path, text] of write) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const path of remove) {
    await rm(join(root, path));
    await removeIfEmpty(dirname(join(root, path)));
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  if ((await readdir(folder)).length === 0) {
    await rmdir(folder);
  }
}

async function filesUnder(root: string): Promise<Map<string, string>> {
  const entries = existsSync(root) ? await readdir(root, { recursive: true }) : [];
  const paths = entries.filter((path) => path.endsWith('.yaml')).sort();
  const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')));
  return new Map(paths.map((path, index) => [path, texts[index] ?? '']));
}
