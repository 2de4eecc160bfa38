import type { Environment } from '../../function/config.ts';
import type { Command, ExitCode, Input, Options, Outcome, Program } from './command.ts';
import { mayColour } from './colour.ts';
import { commandHelp, overview } from './help.ts';
import { parseCommandLine, type Parsed } from './parse.ts';
import { suggestion } from '../../base/suggest.ts';
import { CommandError, UsageError } from './errors.ts';

/** Where a program is called, and where it prints to. */
export interface Surroundings {
  readonly environment: Environment;
  readonly stdout: Printed;
  readonly stderr: Printed;
}

/** A stream as far as commands use it. */
export interface Printed {
  readonly isTTY?: boolean;
  readonly write: (text: string) => unknown;
}

/** Runs what the command line asks for. The exit code follows one rule for all commands. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdout, stderr } = surroundings;
  const [first = 'help', ...rest] = args;
  const wanted = rest[0];
  if (['help', '-h', '--help'].includes(first) && wanted === undefined) {
    stdout.write(`${overview(program)}\n`);
    return 0;
  }
  if (first === '-V' || first === '--version') {
    stdout.write(`${program.version}\n`);
    return 0;
  }
  const [name = first, commandArgs] = first === 'help' ? [wanted, ['--help']] : [first, rest];
  const command = program.commands.find((each) => each.name === name);
  if (command === undefined) {
    const names = program.commands.map((each) => each.name);
    const hint = suggestion(name, names) || `; there are ${names.join(', ')}`;
    stderr.write(`${program.name}: there is no command ${JSON.stringify(name)}${hint}\n`);
    return 2;
  }
  return runCommand(command, commandArgs, { ...surroundings, program });
}

async function runCommand(
  command: Command,
  args: readonly string[],
  scene: Surroundings & { readonly program: Program },
): Promise<ExitCode> {
  const { program, environment, stdout, stderr } = scene;
  const calledAs = callOf(program.name, command.name, environment);
  try {
    const parsed = parseCommandLine(command, args);
    if (parsed.options['help'] === true) {
      stdout.write(`${commandHelp(command, calledAs)}\n`);
      return 0;
    }
    if (parsed.options['version'] === true) {
      stdout.write(`${program.version}\n`);
      return 0;
    }
    const work = await command.load();
    const outcome = await work.run(inputOf(parsed, { ...scene, calledAs }));
    print(outcome, isForScripts(parsed), stdout);
    return outcome?.code ?? 0;
  } catch (error) {
    stderr.write(`${command.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof UsageError) {
      stderr.write(`${calledAs} --help lists what it takes\n`);
    }
    return exitCodeOf(error);
  }
}

/** Wrong settings by name: their class belongs to lib/function, which costs time to load. */
function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) {
    return error.code;
  }
  return error instanceof UsageError || (error instanceof Error && error.name === 'ConfigError') ? 2 : 1;
}

function inputOf(
  parsed: Parsed,
  { program, environment, stdout, stderr, calledAs }: Surroundings & Pick<Input<Options>, 'program' | 'calledAs'>,
): Input<Options> {
  const notes = isForScripts(parsed) ? stderr : stdout;
  return {
    options: parsed.options as Input<Options>['options'],
    positionals: parsed.positionals,
    environment,
    calledAs,
    program,
    colour: mayColour(stdout, environment),
    note: (line) => void notes.write(`${line}\n`),
  };
}

function isForScripts({ options }: Parsed): boolean {
  return options['output'] === 'json' || options['json'] === true;
}

function print(outcome: Outcome | undefined, forScripts: boolean, stdout: Printed): void {
  if (outcome !== undefined) {
    stdout.write(`${forScripts ? JSON.stringify(outcome.data, undefined, 2) : outcome.text}\n`);
  }
}

/** How to call a command again in the way in which this one was called. */
export function callOf(program: string, command: string, { npm_lifecycle_event: script }: Environment): string {
  if (script === command) {
    return command === 'start' ? 'npm start --' : `npm run ${command} --`;
  }
  return `${script === 'npx' ? 'npx ' : ''}${program} ${command}`;
}
