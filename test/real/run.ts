import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesOf } from './binaries.ts';
import { ensureParts } from './build.ts';
import { suites } from './suites.ts';

const here = import.meta.dirname;
const root = join(here, '../..');

/** `npm run test:real [-- suite…]`: builds the parts first, so that no test waits for a compiler; then runs jest. */
async function run(names: readonly string[]): Promise<void> {
  const all = readdirSync(here)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.replace('.test.ts', ''));
  const wanted = names.length === 0 ? all : names;
  const parts = wanted.map((name) => {
    const needed = suites[name];
    if (needed === undefined || !all.includes(name)) {
      throw new Error(
        `there is no suite ${name}, or suites.ts does not say what it needs; there are ${all.join(', ')}`,
      );
    }
    return needed;
  });
  await ensureParts([...new Set(parts.flat())], placesOf(process.env), (line) => {
    process.stderr.write(`${line}\n`);
  });
  const logs = mkdtempSync(join(tmpdir(), 'kube-reflex-logs-'));
  process.exitCode = await jest(
    wanted.map((name) => `test/real/${name}.test.ts`),
    logs,
  );
  if (process.exitCode === 0) {
    rmSync(logs, { recursive: true });
  } else {
    process.stderr.write(`the logs of the parts are in ${logs}\n`);
  }
}

async function jest(files: readonly string[], logs: string): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      ...[join(root, 'node_modules/jest/bin/jest.js'), '--config', join(here, 'jest.config.js'), ...files],
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, REAL_LOGS: logs } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
