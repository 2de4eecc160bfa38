import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeFreezes } from '../../functions/freeze-check/policy.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { pathOf } from '../../lib/kube/path.ts';
import { apiVersion } from '../../lib/kube/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { freeze, suspending } from './objects.ts';

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

async function createInSandbox(name: string): Promise<number> {
  const transport = createTransport(kubeconfigAccess(readFileSync(join(directory, '.sandbox/kubeconfig'), 'utf8')));
  const policy = freeze(name, ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z'], { behavior: suspending });
  const body = JSON.stringify({ apiVersion: apiVersion(changeFreezes), kind: 'ChangeFreeze', ...policy });
  const { status } = await transport.send({ method: 'POST', path: pathOf(changeFreezes, {}), body });
  transport.close();
  return status;
}

describe('npm start with freeze-check', () => {
  it('refuses a rollout, and suspends a CronJob under a freeze that refuses everybody else to change it', async () => {
    const ports = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
    child = spawn(process.execPath, [resolve('lib/cli/start.ts'), ...ports, 'freeze-check'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let denied: Line | undefined;
    let held: Line | undefined;
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text) as Line;
      denied ??= line.msg === 'denied' ? line : undefined;
      held ??= line.msg === 'step' && line.kind === 'CronJob' ? line : undefined;
      if (denied !== undefined && held !== undefined) {
        break;
      }
      if (line === denied) {
        // The freeze among the samples begins every other minute only, and may not have done so yet.
        expect(await createInSandbox('all-cron-jobs')).toBe(201);
      }
    }

    expect(denied).toMatchObject({ name: 'web', user: 'admin', policy: 'ChangeFreeze/long-holiday' });
    expect(held).toMatchObject({ name: 'report', why: expect.stringContaining('held by ChangeFreeze/') });
  }, 60_000);
});
