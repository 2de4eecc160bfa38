import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send } from '../support/http.ts';
import { runToExit, startProcess } from '../support/process.ts';
import { environmentOf, foldersUnderTest } from './functions.ts';

const senders = 4;
const folders = await foldersUnderTest();
let sandbox: Sandbox;
let directory: string;
let kubeconfig: string;

interface Drained {
  readonly code: number | null;
  readonly stderr: string;
  readonly answers: readonly string[];
  readonly errors: readonly unknown[];
}

/** All functions drain at the same time, since each takes its time. */
const drains = new Map<string, Promise<Drained>>();

function drained(folder: string): Promise<Drained> {
  return drains.get(folder) ?? Promise.reject(new Error(`${folder} was not started`));
}

/** Ends a function under load. */
async function drain(folder: string, environment: Readonly<Record<string, string>>): Promise<Drained> {
  const { child, url, exited } = await startProcess(folder, {
    ...environment,
    KUBECONFIG: kubeconfig,
    POD_NAMESPACE: 'default',
    DRAIN_SECONDS: '8', // on a busy machine what is sent after the signal takes a while
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: senders });
  const answers: string[] = [];
  const errors: unknown[] = [];
  let loading = true;
  let sentAfterSignal = 0;
  let signalled = false;
  async function load(): Promise<void> {
    while (loading) {
      sentAfterSignal += signalled ? 1 : 0;
      await send(url, { ...binaryEvent(tick), agent }).then(
        ({ status, body }) => answers.push(`${status} ${body}`),
        (error: unknown) => errors.push(error),
      );
    }
  }
  const loaders = Array.from({ length: senders }, load);
  await until(() => answers.length > 50);

  child.kill('SIGTERM');
  signalled = true;
  await until(async () => (await send(url, { method: 'GET', path: '/health/readiness' })).status === 503);
  await until(() => sentAfterSignal >= senders);
  loading = false;
  await Promise.all(loaders);
  agent.destroy();
  return { ...(await exited), answers, errors };
}

beforeAll(async () => {
  sandbox = await startSandbox();
  directory = mkdtempSync(join(tmpdir(), 'kube-reflex-'));
  kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(sandbox.kubeconfig));
  for (const { folder, definition } of folders) {
    drains.set(folder, drain(folder, environmentOf(definition)));
  }
});

afterAll(async () => {
  await Promise.allSettled(drains.values());
  await sandbox.close();
  rmSync(directory, { recursive: true });
});

it('runs on Node 24, whatever node the machine has', () => {
  // The package brings its own node for Linux; elsewhere the machine's must do.
  const oldest = process.platform === 'linux' ? 24 : 22;

  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(oldest);
});

describe.each(folders)('$definition.name as a process', ({ folder, definition }) => {
  it('PF-16 ends with 0 after SIGTERM under load, and fails no request on the way', async () => {
    const { code, stderr, errors, answers } = await drained(folder);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(errors).toEqual([]);
    expect(new Set(answers)).toEqual(new Set(['204 ']));
  });

  it('names every wrong setting at once and exits with 1 before it listens', async () => {
    const { code, stderr } = await runToExit(folder, { PORT: 'http', ROLE: 'both', MAX_RUNNING: '0' });

    expect(code).toBe(1);
    expect(stderr).toContain('PORT must be a whole number from 0 to 65535, got "http" (example: 8080)');
    expect(stderr).toContain('ROLE must be one of all, events, admission, got "both"');
    expect(stderr).toContain('MAX_RUNNING must be a whole number from 1 to 1000, got "0"');
  });

  it('says plainly that a port is taken', async () => {
    const taken = await startProcess(folder, {
      ...environmentOf(definition),
      KUBECONFIG: kubeconfig,
      DRAIN_SECONDS: '0',
    });

    const { code, stderr } = await runToExit(folder, { ...environmentOf(definition), PORT: taken.url.port });
    taken.child.kill('SIGTERM');
    await taken.exited;

    expect(code).toBe(1);
    expect(stderr).toBe(`${definition.name}: port ${taken.url.port} is taken\n`);
  });
});

describe('background work', () => {
  it('outlives errors that nobody caught, repeats loops that fail, and does at SIGTERM what was meant for later', async () => {
    const { child, url, log, exited } = await startProcess('test/fixtures/crashing', { DRAIN_SECONDS: '0' });
    function records(message: string): number {
      return log.filter(({ msg }) => msg === message).length;
    }

    const answers = [await send(url, binaryEvent(tick)), await send(url, binaryEvent(tick))];
    await until(() => records('uncaught error') === 4 && records('refreshed') > 2);
    child.kill('SIGTERM');
    const { code, stderr } = await exited;

    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(records('flushed')).toBe(1);
  });
});

const tick = { type: 'dev.knative.sources.ping', data: {} };

/** Asks again and again, as fast as the event loop turns; jest's timeout ends it if the condition never holds. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
