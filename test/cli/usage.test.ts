import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { program } from '../../lib/cli/bin/program.ts';
import { kubeReflex, plainEnvironment, runHere, runNode, type Ended } from './command.ts';

const { npm_lifecycle_event: _script, ...environment } = plainEnvironment();

function kube(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return runHere(args, { ...environment, ...variables });
}

const names = program.commands.map(({ name }) => name);

describe('kube-reflex', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']]])('%j lists every command with its line', async (args) => {
    const { code, output } = await kube(args);

    expect(code).toBe(0);
    for (const { name, summary } of program.commands) {
      expect(output).toMatch(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
    }
  });

  it.each([[['--version']], [['-V']], [['doctor', '--version']]])('%j prints the version', async (args) => {
    expect(await kube(args)).toEqual({ code: 0, output: `${program.version}\n` });
  });

  it.each(names)('explains %s in three ways that say the same', async (name) => {
    const [long, short, help] = await Promise.all([kube([name, '--help']), kube([name, '-h']), kube(['help', name])]);

    expect(long.code).toBe(0);
    expect(long.output).toMatch(new RegExp(`^usage: kube-reflex ${name} `));
    expect([short, help]).toEqual([long, long]);
  });

  it.each([
    [['relase'], 'kube-reflex: there is no command "relase"; did you mean release?\n'],
    [['help', 'docter'], 'kube-reflex: there is no command "docter"; did you mean doctor?\n'],
    [['sing'], `kube-reflex: there is no command "sing"; there are ${names.join(', ')}\n`],
    [
      ['doctor', '--kubconfig', 'x'],
      'doctor: there is no option --kubconfig; did you mean --kubeconfig?\nkube-reflex doctor --help lists what it takes\n',
    ],
    [
      ['doctor', 'frezee-check'],
      'doctor: there is no function "frezee-check"; did you mean freeze-check?\nkube-reflex doctor --help lists what it takes\n',
    ],
    [
      ['doctor', '-o', 'jsn'],
      'doctor: -o must be one of text, json, got "jsn"; did you mean json?\nkube-reflex doctor --help lists what it takes\n',
    ],
    [
      ['can-i', '-n', 'shop'],
      'can-i: it needs --kind KIND, --action ACTION\nkube-reflex can-i --help lists what it takes\n',
    ],
    [
      ['completion', 'tcsh'],
      'completion: SHELL must be one of bash, zsh, fish, got "tcsh"\nkube-reflex completion --help lists what it takes\n',
    ],
  ])('refuses %j with 2, says what is wrong and what was probably meant', async (args, output) => {
    expect(await kube(args)).toEqual({ code: 2, output });
  });

  it.each([
    ['doctor', 'npm run doctor --'],
    ['start', 'npm start --'],
  ])('shows the usage of %s as it was called by npm', async (name, call) => {
    const { output } = await kube([name, '--help'], { npm_lifecycle_event: name });

    expect(output).toMatch(new RegExp(`^usage: ${call} `));
    expect(output).not.toContain('kube-reflex doctor');
  });

  it('shows the usage as it was called by npx', async () => {
    const { output } = await kube(['doctor', '--nothing'], { npm_lifecycle_event: 'npx' });

    expect(output).toContain('npx kube-reflex doctor --help lists what it takes\n');
  });

  it.each([[['-o', 'json']], [['--json']]])('prints the result of a command as JSON for %j', async (format) => {
    const { code, output } = await kube(['manifests', '--check', ...format]);

    expect(code).toBe(0);
    expect(JSON.parse(output)).toEqual({ check: true, files: [] });
  });

  it('says why freeze-check does not answer, where it should, and what to do', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/freeze`;
    await new Promise((resolve) => server.close(resolve));

    const question = ['-n', 'shop', '-k', 'Deployment', '-a', 'SCALE', '--api-url', url];
    const ended = await runNode([kubeReflex, 'can-i', ...question]); // jest hides the causes of errors of fetch

    const fix = 'start it with npm start, or give --api-url';
    expect(ended).toEqual({
      code: 2,
      output: `can-i: could not reach ${url}/v1/evaluate: connection refused; ${fix}\n`,
    });
  });

  it('names a file of policies that can not be read', async () => {
    const { code, output } = await kube(['can-i', '-n', 'a', '-k', 'Deployment', '-a', 'SCALE', '-f', '/nowhere.yaml']);

    expect(code).toBe(2);
    expect(output).toMatch(/^can-i: could not read \/nowhere\.yaml: ENOENT/);
  });
});
