import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { program } from '../../lib/cli/bin/program.ts';
import { runProgram } from '../../lib/cli/framework/main.ts';

export interface Ended {
  readonly code: number;
  /** What it printed, errors included. */
  readonly output: string;
}

/** Runs a Node program to its end and returns its standard output alone, as a script reads it. */
export function standardOutputOf(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: plainEnvironment() }, (_error, stdout) => resolve(stdout));
  });
}

/** The command line of the product. */
export const kubeReflex = resolve('lib/cli/bin/kube-reflex.ts');

/** The environment of this test without what a test runner adds for its own output. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _force, NO_COLOR: _no, ...environment } = process.env;
  return environment;
}

/** What a command prints and ends with, run in this process: to start one takes longer than most commands. */
export async function runHere(args: readonly string[], environment = plainEnvironment()): Promise<Ended> {
  const printed: string[] = [];
  const stream = { write: (text: string) => printed.push(text) };
  const code = await runProgram(program, args, { environment, stdout: stream, stderr: stream });
  return { code, output: printed.join('') };
}

/** Runs a Node program to its end. */
export function runNode(args: readonly string[], cwd = '.', env = plainEnvironment()): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
}
