import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { pathOf } from '../../lib/kube/path.ts';
import { cronJobs, events, type CronJob } from '../../lib/kube/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';

interface Line {
  readonly msg?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly user?: string;
  readonly policy?: string;
  readonly why?: string;
}

/** A place of its own, so that nobody else writes the kubeconfig that is read here. */
let directory: string;
let child: ChildProcessByStdio<null, Readable, null> | undefined;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-reflex-start-'));
  symlinkSync(resolve('functions'), join(directory, 'functions'));
});
afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

async function readFromSandbox(path: string): Promise<unknown> {
  const transport = createTransport(kubeconfigAccess(readFileSync(join(directory, '.sandbox/kubeconfig'), 'utf8')));
  const { body } = await transport.send({ method: 'GET', path });
  transport.close();
  return JSON.parse(body);
}

async function report(): Promise<CronJob> {
  return (await readFromSandbox(pathOf(cronJobs, { name: 'report', namespace: 'frozen-shop' }))) as CronJob;
}

/** What became of the freeze so far, oldest first. */
async function newsOfFreeze(): Promise<readonly string[]> {
  const { items } = (await readFromSandbox(pathOf(events, { namespace: 'default' }))) as {
    readonly items: readonly { readonly reason: string; readonly regarding: { readonly name: string } }[];
  };
  return items.filter(({ regarding }) => regarding.name === 'every-minute').map(({ reason }) => reason);
}

/** Where the CronJob stands whenever the freeze of the samples turns. */
interface Turn {
  readonly why: string;
  readonly suspend: boolean | undefined;
  readonly isMarked: boolean;
}

async function turnOf({ why = '' }: Line): Promise<Turn> {
  const { spec, metadata } = await report();
  return { why, suspend: spec.suspend, isMarked: Object.keys(metadata?.annotations ?? {}).length > 0 };
}

describe('npm start with freeze-check', () => {
  it('shows a freeze beginning and ending, with a CronJob that rests and goes on, and a refused rollout', async () => {
    const ports = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
    child = spawn(process.execPath, [resolve('lib/cli/start.ts'), ...ports, 'freeze-check'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const denied: Line[] = [];
    const turns: Turn[] = [];
    let news: readonly string[] = [];
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text) as Line;
      denied.push(...(line.msg === 'denied' ? [line] : []));
      turns.push(...(line.msg === 'step' && line.kind === 'CronJob' ? [await turnOf(line)] : []));
      news = turns.length < 2 ? [] : await newsOfFreeze();
      if (denied.length > 0 && news.includes('Deactivated')) {
        break;
      }
    }

    expect(denied[0]).toMatchObject({ name: 'web', user: 'admin', policy: 'ChangeFreeze/long-holiday' });
    expect(turns).toEqual([
      { why: 'held by ChangeFreeze/every-minute', suspend: true, isMarked: true },
      { why: 'released by ChangeFreeze/every-minute', suspend: false, isMarked: false },
    ]);
    expect(news).toContain('Activated');
  });
});
