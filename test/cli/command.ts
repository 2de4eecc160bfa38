import { execFile } from 'node:child_process';

export interface Ended {
  readonly code: number;
  /** What it printed, errors included. */
  readonly output: string;
}

/** Runs a Node program to its end. */
export function runNode(args: readonly string[], cwd = '.', env = process.env): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
}
