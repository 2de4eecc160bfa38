import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Something to run and measure: it prints a line with `urls` when it listens. */
export interface Program {
  readonly file: string;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The only core that it may use. */
  readonly core?: number;
}

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMs: number;
  readonly residentMb: number;
  /** The most that it ever held. */
  readonly peakMb: number;
}

export interface Started {
  readonly urls: readonly URL[];
  /** Milliseconds on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly usage: () => Promise<Usage>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Asks it to end and resolves with its exit code. */
  readonly stop: () => Promise<number | null>;
}

interface Line {
  readonly msg?: string;
  readonly urls?: readonly string[];
  readonly usage?: Usage;
}

export const programs = join(import.meta.dirname, '..', 'programs');

/** A program of the bench itself. */
export function benchProgram(name: string, environment: Program['environment'] = {}): Program {
  return { file: join(programs, name), environment };
}

/** Starts a program on this Node with nothing but the given environment; resolves when it listens. */
export async function start({ file, flags = [], environment = {}, core }: Program): Promise<Started> {
  const startedAt = performance.now();
  const command = [process.execPath, '--require', join(programs, 'probe.cjs'), ...flags, file];
  const [program = '', ...args] = core === undefined ? command : ['taskset', '--cpu-list', String(core), ...command];
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const listening = Promise.withResolvers<readonly URL[]>();
  let reported = Promise.withResolvers<Usage>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const { msg, urls = [], usage } = JSON.parse(text) as Line;
    if (usage !== undefined) {
      reported.resolve(usage);
    } else if (msg === 'listening') {
      listening.resolve(urls.map((url) => new URL(url)));
    }
  });
  const failed = exited.then(() => Promise.reject(new Error(`${file} ended before it listened`)));
  return {
    urls: await Promise.race([listening.promise, failed]),
    startedAt,
    usage: () => {
      reported = Promise.withResolvers<Usage>();
      child.kill('SIGUSR2');
      return reported.promise;
    },
    signal: (name) => child.kill(name),
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}
