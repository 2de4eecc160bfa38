import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
});
