import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findFunctions } from '../../lib/cli/functions.ts';
import { monotonicMs } from '../../lib/base/monotonic.ts';
import type { Figure } from './measure/figure.ts';

export const about = 'the first minutes of a fresh reader: clone, npm ci, npm start, until every function has reacted';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const limitSeconds = 120;

export async function run(): Promise<readonly Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-walk-'));
  try {
    const started = monotonicMs();
    await execute('git', ['clone', '--quiet', root, directory]);
    await execute('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: directory });
    const installed = monotonicMs();
    await untilAllReact(directory);
    const reacted = monotonicMs();
    return [
      {
        what: 'clone → all functions react in the sandbox',
        value: (reacted - started) / 1000,
        unit: 's',
        bar: { atMost: limitSeconds },
        measured: `${seconds(installed - started)} to install, ${seconds(reacted - installed)} from npm start on`,
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

interface Line {
  readonly msg?: string;
  readonly function?: string;
  readonly steps?: readonly string[];
}

/** A function has reacted when it wrote something, or changed an object on its way. */
async function untilAllReact(directory: string): Promise<void> {
  const waiting = new Set((await findFunctions(join(root, 'functions'))).map(({ definition }) => definition.name));
  const ports = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
  const child = spawn('npm', ['start', '--silent', '--', ...ports], { cwd: directory, detached: true });
  try {
    for await (const text of createInterface({ input: child.stdout })) {
      const { msg, function: name = '', steps = [] } = JSON.parse(text) as Line;
      if (msg === 'admitted' || (msg === 'handled' && steps.length > 0)) {
        waiting.delete(name);
      }
      if (waiting.size === 0) {
        return;
      }
    }
    throw new Error(`npm start ended before these had reacted: ${[...waiting].join(', ')}`);
  } finally {
    if (child.pid !== undefined) {
      process.kill(-child.pid); // npm, and the program that it started
    }
  }
}
