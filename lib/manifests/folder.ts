import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isGenerated, kustomizationFile } from './file.ts';

const kustomization = 'kustomization.yaml';

/** How a folder of manifests departs from the definitions. */
export interface Drift {
  /** File name and text of what is missing or differs. */
  readonly write: ReadonlyMap<string, string>;
  /** Generated files of functions that are gone. */
  readonly remove: readonly string[];
}

/** Compares a folder with the files it should hold. Files written by hand stay, and are listed with the others. */
export async function driftOf(folder: string, files: ReadonlyMap<string, string>): Promise<Drift> {
  const present = await filesOf(folder);
  const byHand = [...present].filter(([, text]) => !isGenerated(text)).map(([name]) => name);
  const wanted = new Map(files);
  for (const name of byHand.filter((name) => wanted.has(name) || name === kustomization)) {
    throw new Error(`write ${join(folder, name)}: there is a file of that name that was written by hand`);
  }
  wanted.set(kustomization, kustomizationFile([...byHand, ...wanted.keys()].sort()));
  return {
    write: new Map([...wanted].filter(([name, text]) => present.get(name) !== text)),
    remove: [...present.keys()].filter((name) => !byHand.includes(name) && !wanted.has(name)),
  };
}

/** Brings the folder in line. */
export async function repair(folder: string, { write, remove }: Drift): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all([
    ...[...write].map(([name, text]) => writeFile(join(folder, name), text)),
    ...remove.map((name) => rm(join(folder, name))),
  ]);
}

async function filesOf(folder: string): Promise<Map<string, string>> {
  const entries = existsSync(folder) ? await readdir(folder) : [];
  const names = entries.filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return new Map(names.map((name, index) => [name, texts[index] ?? '']));
}
