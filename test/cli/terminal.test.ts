import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { kubeReflex, plainEnvironment } from './command.ts';

/** Away from the checkout: every `npm start` writes .sandbox/kubeconfig. */
const directory = mkdtempSync(join(tmpdir(), 'terminal-'));
const children: ChildProcess[] = [];

afterAll(() => {
  children.forEach((child) => child.kill('SIGKILL'));
  rmSync(directory, { recursive: true });
});

/** What `npm start -- freeze-check` writes to a terminal, until that text is there. */
async function watched(until: string, columns: number, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = ['start', 'freeze-check', '--port', '0', '--tls-port', '0', '--api-port', '0'];
  const command = `stty cols ${columns} rows 40; exec '${process.execPath}' '${kubeReflex}' ${args.join(' ')}`;
  const env = { ...plainEnvironment(), TERM: 'xterm', ...variables };
  const started = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: directory,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(started);
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
const refusal = 'Denied by ChangeFreeze/long-holiday: Everybody is on holiday: Next allowed at 2099-01-01T00:00:00Z';
const dumb = { TERM: 'dumb' };

// Side by side: the samples of the function take ten seconds to be played.
const [narrow, wide, plain, dumbPlain, dumbForced] = await Promise.all([
  watched(refusal, 80),
  watched(refusal, 140),
  watched('first tick', 100, { NO_COLOR: '1' }),
  watched('first tick', 100, dumb),
  watched('first tick', 100, { ...dumb, FORCE_COLOR: '1' }),
]);

describe('npm start on a terminal', () => {
  it.each([
    [80, narrow],
    [140, wide],
  ])('fits its lines to %d columns, with all that a refusal says', (columns, screen) => {
    const text = stripVTControlCharacters(screen);
    const lines = text.split('\n');

    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines.filter((line) => line.includes(' tick → '))).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d {3}freeze-check {2}first tick → nothing to do \(\d+ ms, \d+ API calls\)$/),
    ]);
    expect(text.indexOf('What happens:')).toBeLessThan(text.indexOf('first tick'));
  });

  it('colours the name of a function and what is wrong', () => {
    expect(wide).toContain(`${escape}[36mfreeze-check${escape}[39m  `);
    expect(wide).toContain(`${escape}[33m!${escape}[39m`);
  });

  it('has no colours with NO_COLOR', () => {
    expect(plain).toContain('first tick');
    expect(plain).not.toContain(`${escape}[`);
  });

  it('has colours on a dumb terminal only with FORCE_COLOR', () => {
    expect(dumbPlain).toContain('first tick');
    expect(dumbPlain).not.toContain(`${escape}[`);
    expect(dumbForced).toContain(`${escape}[36mfreeze-check`);
  });
});
