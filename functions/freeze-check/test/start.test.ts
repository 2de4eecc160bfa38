import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import { pathOf } from '../../../lib/kube/path.ts';
import { cronJobs, events, type CronJob } from '../../../lib/kube/model/resource.ts';
import { createTransport, type Transport } from '../../../lib/kube/transport.ts';
import { watch } from '../../../lib/kube/watch.ts';
import { until } from '../../../lib/source/testing/until.ts';
import { eventually } from '../../../lib/sandbox/test/contract/watching.ts';

interface Line {
  readonly msg?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly user?: string;
  readonly policy?: string;
  readonly why?: string;
}

interface State {
  readonly suspend: boolean | undefined;
  readonly isMarked: boolean;
}

/** A place of its own, so that nobody else writes the kubeconfig that is read here. */
let directory: string;
let child: ChildProcessByStdio<null, Readable, null> | undefined;
let transport: Transport | undefined;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-reflex-start-'));
  symlinkSync(resolve('functions'), join(directory, 'functions'));
});
afterAll(() => {
  transport?.close();
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

/** Starts the function alone; returns its log, which grows. */
async function start(): Promise<readonly Line[]> {
  const ports = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
  child = spawn(process.execPath, [resolve('lib/cli/bin/kube-reflex.ts'), 'start', ...ports, 'freeze-check'], {
    cwd: directory,
    // The freeze of each minute is in force when the function is ready, and ends soon.
    env: { ...process.env, NODE_OPTIONS: `--import=${resolve('test/support/shifted-clock.ts')}`, CLOCK_SECOND: '15' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (text) => lines.push(JSON.parse(text) as Line));
  await until(() => lines.some(({ msg }) => msg === 'listening'), 'it listens');
  return lines;
}

/** Every state of the CronJob, however short: the process may start at the very end of a freeze. */
function follow(cluster: Transport): { readonly states: readonly State[]; readonly stop: () => Promise<void> } {
  const states: State[] = [];
  const over = new AbortController();
  const options = { transport: cluster, namespace: 'frozen-shop', resourceVersion: '0', signal: over.signal };
  async function look(): Promise<void> {
    for await (const { type, object } of watch(cronJobs, options)) {
      states.push(...(type === 'BOOKMARK' ? [] : [stateOf(object)]));
    }
  }
  const looking = look().catch(() => undefined); // it is cut off in the end
  return {
    states,
    stop: () => {
      over.abort();
      return looking;
    },
  };
}

function stateOf({ spec, metadata }: CronJob): State {
  return { suspend: spec.suspend, isMarked: Object.keys(metadata?.annotations ?? {}).length > 0 };
}

/** What became of the freeze so far, oldest first. */
async function newsOfFreeze(cluster: Transport): Promise<readonly string[]> {
  const { body } = await cluster.send({ method: 'GET', path: pathOf(events, { namespace: 'default' }) });
  const { items } = JSON.parse(body) as {
    readonly items: readonly { readonly reason: string; readonly regarding: { readonly name: string } }[];
  };
  return items.filter(({ regarding }) => regarding.name === 'every-minute').map(({ reason }) => reason);
}

describe('npm start with freeze-check', () => {
  it('shows a freeze beginning and ending, with a CronJob that rests and goes on, and a refused rollout', async () => {
    const lines = await start();
    const cluster = createTransport(kubeconfigAccess(readFileSync(join(directory, '.sandbox/kubeconfig'), 'utf8')));
    transport = cluster;
    const { states, stop } = follow(cluster);
    function denied(): Line | undefined {
      return lines.find(({ msg }) => msg === 'denied');
    }
    await until(() => states.length >= 3 && denied() !== undefined, 'a freeze begins and ends, a rollout is refused');
    const news = await eventually(
      () => newsOfFreeze(cluster),
      (reasons) => reasons.includes('Deactivated'),
    );
    await stop();
    const steps = lines.filter(({ msg, kind }) => msg === 'step' && kind === 'CronJob');

    expect(denied()).toMatchObject({ name: 'web', user: 'admin', policy: 'ChangeFreeze/long-holiday' });
    expect(states.slice(0, 3)).toEqual([
      { suspend: false, isMarked: false },
      { suspend: true, isMarked: true },
      { suspend: false, isMarked: false },
    ]);
    expect(steps.slice(0, 2).map(({ why }) => why)).toEqual([
      'held by ChangeFreeze/every-minute',
      'released by ChangeFreeze/every-minute',
    ]);
    expect(news).toContain('Activated');
  });
});
