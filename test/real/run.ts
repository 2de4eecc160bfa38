import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { findBinary, placesOf, type Places } from './parts/binaries.ts';
import { ensureParts } from './parts/build.ts';
import { suites, worldParts } from './suites.ts';

const here = import.meta.dirname;
const root = join(here, '../..');

/**
 * `npm run test:real [-- suite… [option…]]`: builds the parts first, so that no test waits for a compiler; then runs
 * jest, to which everything from the first option on is handed (`-t 'PF-6'`).
 */
async function run(words: readonly string[]): Promise<void> {
  const { names, options } = parted(words);
  const all = Map.groupBy(suiteFiles(), (file) => basename(file, '.test.ts'));
  const files = (names.length === 0 ? [...all.keys()] : names).flatMap((name) => {
    const found = all.get(name);
    if (found === undefined) {
      throw new Error(`there is no suite ${name}; there are ${[...all.keys()].join(', ')}`);
    }
    return found;
  });
  const parts = files.map((file) => {
    const needed = file.includes('/real/') ? suites[basename(file, '.test.ts')] : worldParts;
    if (needed === undefined) {
      throw new Error(`test/real/suites.ts does not say what ${file} needs`);
    }
    return needed;
  });
  const places = placesOf(process.env);
  await ensureParts([...new Set(parts.flat())], places, (line) => {
    process.stderr.write(`${line}\n`);
  });
  const logs = mkdtempSync(join(tmpdir(), 'kube-reflex-logs-'));
  process.exitCode = await jest([...files, ...options], {
    REAL_LOGS: logs,
    WORLD: 'real',
    PATH: withKubectl(places),
  });
  if (process.exitCode === 0) {
    rmSync(logs, { recursive: true });
  } else {
    process.stderr.write(`the logs of the parts are in ${logs}\n`);
  }
}

/** Suites of the platform, of each function beside its other suites, and those that run on any World. */
function suiteFiles(): string[] {
  const real = globSync('{test,functions/*/test}/real/**/*.test.ts', { cwd: root });
  return [...real, ...worldSuites()].sort();
}

/** `npm test` runs them on the sandbox. */
function worldSuites(): string[] {
  return globSync('{functions,test/functions}/*/test/*.test.ts', { cwd: root }).filter((file) =>
    /from '.*\/support\/world\.ts'/.test(readFileSync(join(root, file), 'utf8')),
  );
}

function parted(words: readonly string[]): { names: readonly string[]; options: readonly string[] } {
  const first = words.findIndex((word) => word.startsWith('-'));
  const end = first === -1 ? words.length : first;
  return { names: words.slice(0, end), options: words.slice(end) };
}

/** Suites and the commands of the README call it by its name. */
function withKubectl(places: Places): string {
  const kubectl = findBinary('kubectl', places);
  return [...places.path, ...(kubectl === undefined ? [] : [dirname(kubectl)])].join(delimiter);
}

async function jest(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      ...[join(root, 'node_modules/jest/bin/jest.js'), '--config', join(here, 'jest.config.js'), ...args],
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
