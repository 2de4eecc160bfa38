import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

export interface Command {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs and leaves its files. Default: the directory of the run. */
  readonly directory?: string;
}

/** A running program whose output goes to a file of its own. */
export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  readonly command: Command;
  /** Resolves with how it ended, once it has. */
  readonly ended: Promise<string>;
  alive(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL by default: an API server takes a minute over SIGTERM, and its data survives a kill. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts programs and makes sure that none outlives this process, however it ends. */
export interface Processes {
  start(command: Command): Promise<Running>;
  running(): readonly Running[];
  stopAll(): Promise<void>;
}

/** Kills what is on its list when the pipe from us breaks, that is, also after a SIGKILL of this process. */
const guardScript = `
pids=' '
while read -r sign pid; do
  case "$sign" in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%%" $pid "*} \${pids#*" $pid "}" ;;
  esac
done
for pid in $pids; do kill -9 "$pid"; done 2>/dev/null
`;

export function createProcesses(directory: string): Processes {
  const list = new Set<Running>();
  const guard = spawn('/bin/sh', ['-c', guardScript], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  guard.stdin.on('error', () => undefined); // the guard ends with us; a broken pipe then says nothing new
  function forget(running: Running): void {
    list.delete(running);
    guard.stdin.write(`- ${String(running.pid)}\n`);
  }
  return {
    running: () => [...list],
    async start(command) {
      const running = await launch(command, directory);
      list.add(running);
      guard.stdin.write(`+ ${String(running.pid)}\n`);
      void running.ended.then(() => forget(running));
      return running;
    },
    async stopAll() {
      await Promise.all([...list].map((running) => running.stop()));
      guard.stdin.end();
    },
  };
}

async function launch(command: Command, directory: string): Promise<Running> {
  const log = join(directory, `${command.name}.log`);
  const output = openSync(log, 'a');
  const child = spawn(command.file, [...command.args], {
    cwd: command.directory ?? directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...command.env },
    stdio: ['ignore', output, output],
    detached: true, // Ctrl-C reaches us alone; we end the parts in order
  });
  closeSync(output);
  const ended = ending(child);
  const pid = await started(child, command);
  const { name } = command;
  function alive(): boolean {
    return child.exitCode === null && child.signalCode === null;
  }
  function signal(signal: NodeJS.Signals): void {
    if (alive()) {
      process.kill(pid, signal);
    }
  }
  async function stop(by: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    signal(by);
    signal('SIGCONT');
    await ended;
  }
  return { name, pid, log, command, ended, alive, signal, stop };
}

function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${String(code)}`));
  });
}

function started(child: ChildProcess, { file }: Command): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`start ${file}: ${error.message}`, { cause: error })));
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}
