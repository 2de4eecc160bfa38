import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { slownessOf } from './unit.ts';

const root = resolve(import.meta.dirname, '../..');
const suites = globSync('{lib,functions}/**/*.test.ts', { cwd: root }).filter(
  (file) => !/\/(test|template)\//.test(file),
);

describe('a suite beside the file that it tests', () => {
  it.each(suites)('%s starts no server, no process and no sandbox', (file) => {
    expect(slownessOf(root, file)).toBeUndefined();
  });
});

describe('the rule', () => {
  let planted = '';
  beforeAll(() => {
    planted = mkdtempSync(join(tmpdir(), 'unit-'));
  });
  afterAll(() => rmSync(planted, { recursive: true }));

  function plant(file: string, text: string): void {
    mkdirSync(dirname(join(planted, file)), { recursive: true });
    writeFileSync(join(planted, file), `${text}\n`);
  }

  it.each([
    ["import { spawn } from 'node:child_process';", 'node:child_process'],
    ["import { Worker } from 'node:worker_threads';", 'node:worker_threads'],
    ['const server = http.createServer(answer);', 'a server'],
    ['const server = createSecureServer({ key, cert });', 'a server'],
    ['setTimeout(() => undefined, 5);', undefined],
    ["import type { ChildProcess } from 'node:child_process';", undefined],
  ])('of %j finds %s', (text, found) => {
    plant('lib/helper.ts', text);
    plant('lib/x.test.ts', "import { help } from './helper.ts';");

    expect(slownessOf(planted, 'lib/x.test.ts')?.at(-1)).toBe(found);
  });

  it('finds the sandbox and the runtime behind other files', () => {
    plant('lib/x.test.ts', "import { open } from './testing/world.ts';");
    plant('lib/testing/world.ts', "import { startSandbox } from '../sandbox/sandbox.ts';");
    plant('lib/sandbox/sandbox.ts', 'export function startSandbox() {}');

    expect(slownessOf(planted, 'lib/x.test.ts')).toEqual([
      'lib/x.test.ts',
      'lib/testing/world.ts',
      'lib/sandbox/sandbox.ts',
    ]);
  });
});
