import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { program } from '../../lib/cli/bin/program.ts';
import { findFunctions } from '../../lib/cli/functions.ts';
import { kubeReflex, runNode } from './command.ts';

let directory: string;
let script: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'completion-'));
  script = join(directory, 'kube-reflex.bash');
  const { output } = await runNode([kubeReflex, 'completion', 'bash']);
  await writeFile(script, output);
  await writeFile(join(directory, 'my kubeconfig'), '');
});
afterAll(() => rm(directory, { recursive: true }));

/** What bash would offer at the end of these words. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const line = ['kube-reflex', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `source '${script}'; cd '${directory}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _kube_reflex; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', ask]);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

const functions = (await findFunctions('functions')).map(({ definition }) => definition.name);

describe('completion in bash', () => {
  it.each([
    ['the commands', [''], [...program.commands.map(({ name }) => name), 'help', '--help', '--version']],
    ['a command', ['rel'], ['release']],
    ['a command to be explained', ['help', 'doc'], ['doctor']],
    ['the options of a command', ['start', '--'], expect.arrayContaining(['--port', '--dry-run', '--help'])],
    ['an option', ['can-i', '--api'], ['--api-url']],
    ['the values of an option', ['doctor', '-o', ''], ['text', 'json']],
    ['words for a value', ['can-i', '-n', 'shop', '--kind', 'D'], ['Deployment', 'DaemonSet']],
    ['files', ['doctor', '--kubeconfig', 'my'], ['my kubeconfig']],
    ['nothing where nobody knows', ['start', '--port', ''], []],
    ['functions', ['release', ''], functions],
    ['another function', ['start', 'coredns-sync', 'fr'], ['freeze-check']],
    ['shells', ['completion', ''], ['bash', 'zsh', 'fish']],
  ])('offers %s', async (_what, words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });
});

describe('completion in other shells', () => {
  it.each(['zsh', 'fish'])('%s gets every command and every option', async (shell) => {
    const { code, output } = await runNode([kubeReflex, 'completion', shell]);

    expect(code).toBe(0);
    for (const { name, options } of program.commands) {
      expect(output).toContain(name);
      for (const option of Object.keys(options)) {
        expect(output).toMatch(new RegExp(`(--|-l )${option}\\b`));
      }
    }
  });
});
