import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { dataExtensions, renderModes } from '../../render/render.ts';
import { refusalOf } from './dns/parse.ts';
import type { Recorded } from './dns/recording/render.ts';
import { createProcesses } from '../../../../test/real/parts/processes.ts';

const patience = 1_800_000;
const root = join(import.meta.dirname, '../../../..');
const directory = mkdtempSync(join(tmpdir(), 'kube-reflex-texts-'));
const processes = createProcesses(directory);

/** Write the same few texts as the others: they are about when and how often. `cost` has the rules of 20,000 hosts. */
const leftOut = ['fault', 'meeting', 'pace'].map((name) => `functions/coredns-sync/test/${name}.test.ts`);
const suites = globSync('functions/coredns-sync/**/*.test.ts', { cwd: root })
  .filter((suite) => !leftOut.includes(suite) && !suite.includes('/test/real/'))
  .sort();
let texts: readonly Recorded[] = [];

beforeAll(async () => {
  texts = await recordTexts();
}, patience);
afterAll(async () => {
  await processes.stopAll();
  rmSync(directory, { recursive: true });
});

it(
  'CS-45 CoreDNS takes every text that any suite of coredns-sync had rendered and that passes our own check',
  async () => {
    const beside = texts.flatMap(({ files, key }) => Object.keys(files).filter((name) => name !== key));

    process.stderr.write(`${texts.length} texts\n`);
    expect(new Set(texts.map(({ mode }) => mode))).toEqual(new Set(renderModes));
    expect(new Set(beside.map((name) => name.replace(/.*\./, '')))).toEqual(new Set(dataExtensions));
    expect(await refusalOf(texts)).toBeUndefined();
  },
  patience,
);

/** All of the suites must run to their end; whether what they expect holds is for themselves to say. */
async function recordTexts(): Promise<readonly Recorded[]> {
  const [recorded, report] = [join(directory, 'texts'), join(directory, 'report.json')];
  mkdirSync(recorded);
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const options = ['--maxWorkers=2', '--silent', '--json', `--outputFile=${report}`];
  const { ended, log } = await processes.start({
    name: 'suites',
    file: process.execPath,
    args: [
      ...node,
      '--config=functions/coredns-sync/test/real/dns/recording/jest.config.js',
      ...options,
      '--runTestsByPath',
      ...suites,
    ],
    env: { RECORDED_RULES: recorded },
    directory: root,
  });
  const how = await ended;
  try {
    expect(suitesThatRan(report)).toEqual(suites);
  } catch (error) {
    throw new Error(`the suites ended with ${how}:\n${tailOf(log)}`, { cause: error });
  }
  return readdirSync(recorded).map((name) => JSON.parse(readFileSync(join(recorded, name), 'utf8')) as Recorded);
}

/** A suite that can't be loaded has no results. */
function suitesThatRan(report: string): readonly string[] {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly testResults: readonly { readonly name: string; readonly assertionResults: readonly unknown[] }[];
  };
  return testResults
    .filter(({ assertionResults }) => assertionResults.length > 0)
    .map(({ name }) => relative(root, name))
    .sort();
}

/** Indented, since whoever sums up lines that begin with `Tests:` means our own. */
function tailOf(log: string): string {
  const lines = readFileSync(log, 'utf8').split('\n').slice(-100);
  return lines.map((line) => `  ${line}`).join('\n');
}
