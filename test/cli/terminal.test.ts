import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeReflex, plainEnvironment } from './command.ts';

/** Away from the checkout: every `npm start` writes .sandbox/kubeconfig. */
let directory: string;
let child: ChildProcess | undefined;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'terminal-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Screen {
  readonly columns: number;
  readonly variables?: NodeJS.ProcessEnv;
}

/** What `npm start -- freeze-check` writes to a terminal, until that text is there. */
async function watched(until: string, { columns, variables = {} }: Screen): Promise<string> {
  const args = ['start', 'freeze-check', '--port', '0', '--tls-port', '0', '--api-port', '0'];
  const command = `stty cols ${columns} rows 40; exec '${process.execPath}' '${kubeReflex}' ${args.join(' ')}`;
  const env = { ...plainEnvironment(), TERM: 'xterm', ...variables };
  const started = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: directory,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child = started;
  let text = '';
  for await (const chunk of started.stdout) {
    text += String(chunk);
    if (stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').includes(until)) {
      break;
    }
  }
  return text.replaceAll('\r', '');
}

const escape = String.fromCharCode(27);

describe('npm start on a terminal', () => {
  it.each([80, 140])('fits its lines to %d columns, with all that a refusal says', async (columns) => {
    const refusal = 'Denied by ChangeFreeze/long-holiday: Everybody is on holiday: Next allowed at';
    const text = stripVTControlCharacters(await watched(`${refusal} 2099-01-01T00:00:00Z`, { columns }));
    const lines = text.split('\n');

    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines.filter((line) => line.includes(' tick → '))).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d {3}freeze-check {2}first tick → nothing to do \(\d+ ms, \d+ API calls\)$/),
    ]);
    expect(text.indexOf('What happens:')).toBeLessThan(text.indexOf('first tick'));
  });

  it('colours the name of a function and what is wrong', async () => {
    const text = await watched('sample refused', { columns: 100 });

    expect(text).toContain(`${escape}[36mfreeze-check${escape}[39m  `);
    expect(text).toContain(`${escape}[33m!${escape}[39m`);
  });

  it('has no colours with NO_COLOR', async () => {
    const text = await watched('first tick', { columns: 100, variables: { NO_COLOR: '1' } });

    expect(text).not.toContain(`${escape}[`);
  });

  it('has colours on a dumb terminal only with FORCE_COLOR', async () => {
    const dumb = await watched('first tick', { columns: 100, variables: { TERM: 'dumb' } });
    child?.kill('SIGKILL');
    const forced = await watched('first tick', { columns: 100, variables: { TERM: 'dumb', FORCE_COLOR: '1' } });

    expect(dumb).not.toContain(`${escape}[`);
    expect(forced).toContain(`${escape}[36mfreeze-check`);
  });
});
