import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importsOf, shippedFiles } from '../../../test/architecture/imports.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(import.meta.dirname, path, 'package.json'), 'utf8')) as Manifest;
}

describe('the package of the sandbox', () => {
  const own = manifest('..');
  const root = manifest('../../..');

  it('has the version of the repository', () => {
    expect(own.version).toBe(root.version);
  });

  it('asks for the same versions of the packages that both use', () => {
    const shared = Object.keys(own.dependencies).filter((name) => name in root.dependencies);

    expect(shared.map((name) => own.dependencies[name])).toEqual(shared.map((name) => root.dependencies[name]));
  });

  it('imports downwards in the order that its page draws', () => {
    const repository = join(import.meta.dirname, '../../..');
    const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').split(
      '## The order of its folders',
    )[1];
    const rows = [...(page ?? '').matchAll(/^\| (`[^|]+`) +\|/gm)].map(([, row = '']) =>
      [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => (name.endsWith('.ts') ? 'sandbox' : name)),
    );

    function rowOf(file: string): number {
      return rows.findIndex((row) => row.includes(dirname(file).split('/').at(-1) ?? ''));
    }

    const upwards = shippedFiles(repository, ['lib/sandbox'])
      .flatMap((file) => importsOf(repository, file))
      .filter(({ from, to }) => to.startsWith('lib/sandbox/') && dirname(from) !== dirname(to))
      .filter(({ from, to }) => rowOf(from) === -1 || rowOf(from) >= rowOf(to));
    expect(upwards.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});
