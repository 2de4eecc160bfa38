import { access, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Definition } from '../function/definition.ts';
import { UsageError } from './framework/errors.ts';
import { suggestion } from '../base/suggest.ts';

/** A function and where it lives. */
export interface Found {
  readonly folder: string;
  readonly definition: Definition;
}

/** This package, from wherever it is called. */
export const packageRoot = join(import.meta.dirname, '../..');

/** Its functions. */
export async function ownFunctions(): Promise<Found[]> {
  const root = join(packageRoot, 'functions');
  const found = await findFunctions(root);
  if (found.length === 0) {
    throw new Error(`there are no functions in ${root}`);
  }
  return found;
}

/** Their names, without loading them. */
export async function functionNames(): Promise<readonly string[]> {
  return (await foldersOf(join(packageRoot, 'functions'))).map((folder) => basename(folder));
}

/** Those that a command line names; all where it names none. */
export async function chosenFunctions(names: readonly string[]): Promise<readonly Found[]> {
  const all = await functionNames();
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    const hint = suggestion(unknown, all) || `; there are ${all.join(', ')}`;
    throw new UsageError(`there is no function ${JSON.stringify(unknown)}${hint}`);
  }
  const found = await ownFunctions();
  return names.length === 0 ? found : found.filter(({ definition }) => names.includes(definition.name));
}

/** The functions of a folder, one per subfolder with an `index.ts`, in the order of their names. */
export async function findFunctions(root: string): Promise<Found[]> {
  const folders = await foldersOf(root);
  return Promise.all(folders.map((folder) => loadFunction(folder)));
}

/** The function that the folder's `index.ts` exports by default. */
export async function loadFunction(folder: string): Promise<Found> {
  const file = resolve(folder, 'index.ts');
  const { default: definition } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  if (!isDefinition(definition)) {
    throw new Error(`load ${file}: it must export by default what defineFunction returns`);
  }
  const expected = basename(resolve(folder));
  if (definition.name !== expected) {
    throw new Error(`load ${file}: the function must be named as its folder, "${expected}", not "${definition.name}"`);
  }
  return { folder, definition };
}

async function foldersOf(root: string): Promise<string[]> {
  if (!(await exists(root))) {
    return [];
  }
  const folders = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, name))
    .sort();
  const kept = await Promise.all(folders.map((folder) => exists(join(folder, 'index.ts'))));
  return folders.filter((_folder, index) => kept[index]);
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

function isDefinition(value: unknown): value is Definition {
  return typeof value === 'object' && value !== null && 'name' in value && 'config' in value;
}
