import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { forbiddenFor, rootFiles, rows, sandboxImports, unmoved } from './floor-plan.js';
import { folderCycles, functionHomes, importsOf, shippedFiles, type Import } from './imports.ts';

const root = resolve(import.meta.dirname, '../..');
const lib = shippedFiles(root, ['lib']).filter((file) => !file.startsWith('lib/cli/template/'));
const imports = lib.flatMap((file) => importsOf(root, file));

function layerOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function line({ from, to }: Import): string {
  return `${from} → ${to}`;
}

describe('lib', () => {
  it('holds the folders of the floor plan, and a page about them', () => {
    expect(readdirSync(join(root, 'lib')).sort()).toEqual(['README.md', ...rows.flat()].sort());
  });

  it('imports only upwards in the floor plan, types included', () => {
    const wrong = imports.filter(({ from, to }) => forbiddenFor(layerOf(from)).includes(layerOf(to)));

    expect(wrong.map(line)).toEqual([]);
  });

  it('never imports a function or a test', () => {
    expect(imports.filter(({ to }) => !to.startsWith('lib/')).map(line)).toEqual([]);
  });

  it('has no folders that import each other in circles', () => {
    expect(folderCycles(imports)).toEqual([]);
  });

  it('has no files that load each other in circles', () => {
    const loaded = imports.filter(({ typeOnly }) => !typeOnly);

    expect(folderCycles(loaded, (file) => file)).toEqual([]);
  });

  it('keeps the sandbox apart from all that is not base, the model of Kubernetes or the webhook client', () => {
    const foreign = imports
      .filter(({ from, to }) => layerOf(from) === 'sandbox' && layerOf(to) !== 'sandbox')
      .filter(({ to }) => !sandboxImports.includes(dirname(to)));

    expect(foreign.map(line)).toEqual([]);
  });
});

const homes = functionHomes(root);

describe('functions', () => {
  it('are exempt only if they were there before the floor plan', () => {
    expect(['coredns-sync', 'freeze-check', 'istio-rollout', 'node-affinity-mutate']).toEqual(
      expect.arrayContaining([...unmoved]),
    );
  });

  it.each(homes)('%s imports lib and itself', (home) => {
    const wrong = shippedFiles(root, [home])
      .flatMap((file) => importsOf(root, file))
      .filter(({ to }) => !to.startsWith('lib/') && !to.startsWith(`${home}/`));

    expect(wrong.map(line)).toEqual([]);
  });

  const moved = homes.filter((home) => !unmoved.some((name) => home.endsWith(`/${name}`)));

  it.each(moved)('%s has the common shape', (home) => {
    const entries = readdirSync(join(root, home), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);

    expect(files.filter((name) => !rootFiles.includes(name))).toEqual([]);
  });

  it.each(moved)('%s has no rooms that import each other in circles', (home) => {
    const own = shippedFiles(root, [home]).flatMap((file) => importsOf(root, file));

    // Each fixed file at the root is a place of its own: index.ts imports the handlers, which import config.ts.
    function placeOf(file: string): string {
      return dirname(file) === home ? file : dirname(file);
    }

    expect(
      folderCycles(
        own.filter(({ to }) => to.startsWith(`${home}/`)),
        placeOf,
      ),
    ).toEqual([]);
  });
});
