import type { Environment } from '../../function/config.ts';

/** What a shell offers for a value: these words, or what it finds. */
export type Completion = 'file' | 'folder' | 'function' | readonly string[];

/** One option. With a `value` it takes one; without, it is a flag. */
export interface Option {
  readonly short?: string;
  /** The name of its value in the help, such as `FILE`. */
  readonly value?: string;
  readonly about: string;
  readonly default?: string;
  readonly required?: true;
  readonly repeatable?: true;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  readonly complete?: Completion;
}

/** By long name, without the dashes. */
export type Options = Readonly<Record<string, Option>>;

/** What the command line says about each option. */
export type Values<O extends Options> = { readonly [Name in keyof O]: ValueOf<O[Name]> };

type ValueOf<O extends Option> = O extends { readonly value: string }
  ? O extends { readonly repeatable: true }
    ? readonly string[]
    : O extends { readonly default: string } | { readonly required: true }
      ? string
      : string | undefined
  : boolean;

export interface Positional {
  readonly name: string;
  readonly about: string;
  readonly required?: true;
  /** Only for the last one. */
  readonly repeatable?: true;
  readonly choices?: readonly string[];
  readonly complete?: Completion;
}

export interface Example {
  /** What follows the name of the command. */
  readonly args: string;
  readonly about: string;
}

/** What a command is given. */
export interface Input<O extends Options> {
  readonly options: Values<O>;
  readonly positionals: readonly string[];
  readonly environment: Environment;
  /** How it was called, for commands that a message suggests: `npm run doctor --` or `kube-reflex doctor`. */
  readonly calledAs: string;
  readonly program: Program;
  /** Whether text on standard output may have colours. */
  readonly colour: boolean;
  /** Prints a line that is no part of the result: to standard error when a script reads the result. */
  readonly note: (line: string) => void;
}

/** 0: done, nothing wrong. 1: it found a problem or failed. 2: wrong usage or settings. */
export type ExitCode = 0 | 1 | 2;

/** What a command found or did, for people and for scripts. */
export interface Outcome {
  readonly code: ExitCode;
  readonly text: string;
  readonly data: unknown;
}

/**
 * One command as data. Help, usage errors, suggestions and shell completion come from it; what it does is loaded only
 * when it runs, since a shell asks for completion at each of its starts.
 */
export interface Command<O extends Options = Options> {
  readonly name: string;
  /** One line, lower case, without a full stop. */
  readonly summary: string;
  readonly details?: string;
  readonly options: O;
  readonly positionals?: readonly Positional[];
  readonly examples: readonly Example[];
  /** It prints a result, so it has `--output` as well. */
  readonly reports?: true;
  /** The exit codes of a command that can say more by them than the common rule. */
  readonly exitCodes?: string;
  load(): Promise<{ run(input: Input<O>): Promise<Outcome | undefined> }>;
}

/** Only for its types: what `run` gets follows from `options`. */
export function defineCommand<const O extends Options>(command: Command<O>): Command<O> {
  return command;
}

export interface Program {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

/** Every command has these. */
export const commonOptions = {
  help: { short: 'h', about: 'print this text' },
  version: { short: 'V', about: 'print the version' },
} as const satisfies Options;

/** Every command with a result has these. */
export const reportOptions = {
  output: { short: 'o', value: 'FORMAT', about: 'how to print the result', default: 'text', choices: ['text', 'json'] },
  json: { about: 'the same as -o json' },
} as const satisfies Options;

/** All that may stand on the command line of a command. */
export function allOptions({ options, reports }: Pick<Command, 'options' | 'reports'>): Options {
  return { ...options, ...(reports === true ? reportOptions : {}), ...commonOptions };
}
