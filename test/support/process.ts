import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A function in a separate process. */
export interface FunctionProcess {
  readonly child: ChildProcess;
  readonly url: URL;
  /** Log records so far. */
  readonly log: readonly Record<string, unknown>[];
  /** Resolves with the exit code and the content of stderr. */
  readonly exited: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

type Environment = Readonly<Record<string, string>>;

/**
 * Starts `node test/support/serve.ts <folder>` and resolves when it listens. Rejects with its stderr if it exits
 * instead.
 */
export async function startProcess(folder: string, environment: Environment): Promise<FunctionProcess> {
  const { child, exited } = launch(folder, environment);
  const log: Record<string, unknown>[] = [];
  const listening = new Promise<URL>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const record = JSON.parse(line) as Record<string, unknown>;
      log.push(record);
      if (record['msg'] === 'listening') {
        resolve(new URL(String((record['urls'] as string[])[0])));
      }
    });
  });
  const failed = exited.then(({ stderr }) => Promise.reject(new Error(`exited before listening: ${stderr}`)));
  return { child, log, exited, url: await Promise.race([listening, failed]) };
}

/** Runs a function that is expected to exit by itself. */
export function runToExit(folder: string, environment: Environment): FunctionProcess['exited'] {
  return launch(folder, environment).exited;
}

function launch(
  folder: string,
  environment: Environment,
): { child: ReturnType<typeof spawn> & { stdout: NodeJS.ReadableStream }; exited: FunctionProcess['exited'] } {
  const child = spawn(process.execPath, ['test/support/serve.ts', folder], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PORT: '0',
      TLS_PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { child, exited };
}
