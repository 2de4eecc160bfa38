import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeReflex, plainEnvironment, runNode } from './command.ts';

interface Line {
  readonly msg?: string;
  readonly urls?: readonly string[];
}

let directory: string;
let child: ChildProcess | undefined;
/** Where freeze-check answers. */
let url: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'readme-'));
  const args = [kubeReflex, 'start', 'freeze-check', '--port', '0', '--tls-port', '0', '--api-port', '0'];
  const started = spawn(process.execPath, args, {
    cwd: directory,
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  for await (const text of createInterface({ input: started.stdout })) {
    const { msg, urls: [base] = [] } = JSON.parse(text) as Line;
    url = base === undefined ? url : `${base}freeze-check`;
    if (msg === 'denied') {
      break; // the last of the samples
    }
  }
  started.stdout.resume();
});
afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

/** The first lines of shell under "Asking". */
function examples(): string[] {
  const readme = readFileSync('functions/freeze-check/README.md', 'utf8');
  const [, block = ''] = /### Asking\n+```sh\n([^`]*)```/.exec(readme) ?? [];
  return block.trim().split('\n');
}

describe('the examples of freeze-check on npm start', () => {
  it('answer as they stand', async () => {
    const [curl = '', canI = ''] = examples();
    const command = curl.replace('http://127.0.0.1:8080/freeze-check', url).replace(/^curl /, 'curl --silent ');
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
    const [, options = ''] = /^npm run can-i -- (.*)$/.exec(canI) ?? [];
    const asked = await runNode([kubeReflex, 'can-i', ...options.split(' '), '--api-url', url]);

    expect(JSON.parse(stdout)).toMatchObject({ allow: false, matchedPolicy: 'long-holiday' });
    expect(asked).toEqual({
      code: 1,
      output: 'no: ChangeFreeze/long-holiday: Everybody is on holiday; next allowed at 2099-01-01T00:00:00Z\n',
    });
  });

  it('find the function healthy: its webhooks are called by URL there, without replicas behind a Service', async () => {
    const response = await fetch(`${url}/doctor`);

    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(
      /replicas of freeze-check-webhook +ok +none needed: the API server calls https:/,
    );
  });
});
