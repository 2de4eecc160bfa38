import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { refusalOf } from './dns/parse.ts';
import type { Recorded } from './dns/recording/render.ts';
import { openDnsSite } from './dns/site.ts';

const patience = 600_000;
const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'kube-reflex-texts-'));
let texts: readonly Recorded[] = [];

beforeAll(async () => {
  const jest = [join(root, 'node_modules/jest/bin/jest.js'), '--config', 'test/real/dns/recording/jest.config.js'];
  const child = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', ...jest, '--silent'],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, RECORDED_RULES: directory } },
  );
  await once(child, 'exit'); // whether those suites pass is for themselves to say: here their texts count
  texts = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Recorded);
}, patience);
afterAll(() => rmSync(directory, { recursive: true }));

it(
  'CS-45 CoreDNS takes every text that any suite of coredns-sync had rendered and that passes our own check',
  async () => {
    await using site = await openDnsSite();
    const extensions = new Set(texts.flatMap(({ files }) => Object.keys(files).map((key) => key.replace(/.*\./, ''))));

    process.stderr.write(`${texts.length} texts\n`);
    expect([...extensions].sort()).toEqual(['blocks', 'hosts', 'server', 'zone']);
    expect(texts.length).toBeGreaterThan(1000);
    expect(await refusalOf(site, texts)).toBeUndefined();
  },
  patience,
);
