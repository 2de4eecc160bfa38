import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { preferredField } from '../placement.ts';
import { ourTerm } from '../testing/pods.ts';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import { createTransport } from '../../../lib/kube/transport.ts';
import type { AdmissionReview } from '../../../lib/kube/model/review.ts';

/** A place of its own, so that nobody else writes the kubeconfig that is read here. */
let directory: string;
const running = new AsyncDisposableStack();

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-reflex-start-'));
  running.defer(() => rmSync(directory, { recursive: true }));
  symlinkSync(resolve('functions'), join(directory, 'functions'));
});
afterAll(() => running.disposeAsync());

describe('npm start with node-affinity-mutate', () => {
  it('does what its README says: a sample pod is changed on its way, and both curls answer', async () => {
    const [plain, secure] = await start();
    const stored = await samplePod();
    const [asked = '', explained = ''] = await Promise.all(
      curls().map((command) => run(command.replace('127.0.0.1:8080', plain).replace('127.0.0.1:9443', secure))),
    );
    const { response } = JSON.parse(asked) as AdmissionReview;
    const patch: unknown = JSON.parse(Buffer.from(response?.patch ?? '', 'base64').toString());
    const affinity = { nodeAffinity: { [preferredField]: [ourTerm] } };

    expect(stored).toMatchObject({ spec: { affinity } });
    expect(patch).toEqual([{ op: 'add', path: '/spec/affinity', value: affinity }]);
    expect(JSON.parse(explained)).toMatchObject({
      reason: 'mutated',
      namespaceKnown: true,
      considered: [{ rule: 'default', poolActive: true, outcome: 'applied' }],
      patch,
    });
  });
});

/** Starts the function alone; returns where it listens. */
async function start(): Promise<readonly [string, string]> {
  const args = [
    resolve('lib/cli/bin/kube-reflex.ts'),
    'start',
    '--port',
    '0',
    '--api-port',
    '0',
    'node-affinity-mutate',
  ];
  const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  running.defer(() => void child.kill('SIGKILL'));
  return new Promise((found) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const { msg, urls = [] } = JSON.parse(text) as { readonly msg?: string; readonly urls?: readonly string[] };
      const [plain = '', secure = ''] = urls.map((url) => new URL(url).host);
      if (msg === 'listening') {
        found([plain, secure]);
      }
    });
  });
}

/** The pod of the samples as it is stored, once it is. */
async function samplePod(): Promise<unknown> {
  const transport = createTransport(kubeconfigAccess(readFileSync(join(directory, '.sandbox/kubeconfig'), 'utf8')));
  for (;;) {
    const { status, body } = await transport.send({ method: 'GET', path: '/api/v1/namespaces/pool-demo/pods/web' });
    if (status === 200) {
      transport.close();
      return JSON.parse(body);
    }
    await pause(50);
  }
}

/** The commands of the README, each on one line. */
function curls(): string[] {
  const text = readFileSync('functions/node-affinity-mutate/README.md', 'utf8').replaceAll('\\\n', ' ');
  return text.match(/^curl .*$/gm) ?? [];
}

async function run(command: string): Promise<string> {
  return (await promisify(execFile)('/bin/sh', ['-c', command.replace('curl', 'curl --silent')])).stdout;
}
