import { type ChildProcessWithoutNullStreams, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

interface Outcome {
  readonly code: number;
  /** What it printed, errors included. */
  readonly output: string;
}

/** kubectl with a home and a kubeconfig of its own. Lines are split at spaces outside of single quotes. */
export interface Kubectl {
  /** Runs a command line that must succeed; answers what it printed. */
  run(line: string, input?: string): Promise<string>;
  attempt(line: string, input?: string): Promise<Outcome>;
  start(line: string): ChildProcessWithoutNullStreams;
  close(): Promise<void>;
}

export async function openKubectl(kubeconfig: object): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-kubectl-'));
  const file = join(folder, 'kubeconfig');
  await writeFile(file, JSON.stringify(kubeconfig));
  const env = { ...process.env, HOME: folder, KUBECONFIG: file, KUBECTL_EXTERNAL_DIFF: 'diff -u -N' };

  function attempt(line: string, input = ''): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const child = execFile('kubectl', words(line), { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : Number(error !== null), output: stdout + stderr }),
    );
    child.stdin?.end(input);
    return promise;
  }

  return {
    attempt,
    async run(line, input) {
      const { code, output } = await attempt(line, input);
      if (code !== 0) {
        throw new Error(`kubectl ${line}: exit ${code}\n${output}`);
      }
      return output;
    },
    start: (line) => spawn('kubectl', words(line), { env }),
    close: () => rm(folder, { recursive: true }),
  };
}

function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
