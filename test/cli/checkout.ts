import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A place that looks like this repository without its functions, so that a test can add one unseen by other tests. */
export async function borrowCheckout(): Promise<{ readonly root: string; readonly discard: () => Promise<void> }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'kube-reflex-')));
  const shared = ['lib', 'test', 'node_modules', 'package.json', 'eslint.config.js', '.prettierrc.json'];
  await Promise.all(shared.map((name) => symlink(resolve(name), join(root, name))));
  await mkdir(join(root, 'functions'));
  await writeFile(
    join(root, 'tsconfig.json'),
    JSON.stringify({ extends: resolve('tsconfig.json'), include: ['functions'] }),
  );
  await writeFile(
    join(root, 'jest.config.json'),
    JSON.stringify({
      testEnvironment: 'node',
      testMatch: ['<rootDir>/functions/**/*.test.ts'],
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '\\.ts$': resolve('test/support/transform.js') },
    }),
  );
  return { root, discard: () => rm(root, { recursive: true }) };
}
