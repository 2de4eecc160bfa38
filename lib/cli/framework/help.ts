import { allOptions, type Command, type Option, type Positional, type Program } from './command.ts';

/** Every command with its line. */
export function overview({ name, summary, version, commands }: Program): string {
  return [
    `${name} ${version}: ${summary}`,
    '',
    `usage: ${name} COMMAND [OPTIONS]`,
    '',
    ...table(commands.map((command) => [command.name, command.summary])),
    '',
    `${name} help COMMAND prints the options of a command. In this checkout npm run COMMAND -- … is the same.`,
  ].join('\n');
}

/** All that a command takes, written for the way in which it was called. */
export function commandHelp(command: Command, calledAs: string): string {
  const { summary, details, positionals = [], examples, exitCodes } = command;
  const options = Object.entries(allOptions(command));
  return [
    usageLine(command, calledAs),
    '',
    `${summary}${details === undefined ? '' : `\n${details}`}`,
    '',
    ...table([
      ...positionals.map(({ name, about }) => [name, about] as const),
      ...options.map(([name, option]) => [optionHead(name, option), optionAbout(option)] as const),
    ]),
    ...(examples.length === 0 ? [] : ['', 'examples:']),
    ...table(examples.map(({ args, about }) => [`${calledAs} ${args}`.replace(/( --)? $/, ''), about])),
    '',
    exitCodes ?? 'exit code 0: done, nothing wrong; 1: it found a problem or failed; 2: wrong usage or settings',
  ].join('\n');
}

export function usageLine({ options, positionals = [] }: Command, calledAs: string): string {
  const required = Object.entries(options)
    .filter(([, option]) => option.required === true)
    .map(([name, { short, value = '' }]) => `${short === undefined ? `--${name}` : `-${short}`} ${value}`);
  return ['usage:', calledAs, ...required, ...positionals.map(positionalHead), '[OPTIONS]'].join(' ');
}

function positionalHead({ name, required, repeatable }: Positional): string {
  const head = repeatable === true ? `${name}…` : name;
  return required === true ? head : `[${head}]`;
}

function optionHead(name: string, { short, value }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function optionAbout({ about, default: preset, required, repeatable, choices }: Option): string {
  const notes = [
    ...(choices === undefined ? [] : [choices.join(', ')]),
    ...(preset === undefined ? [] : [`default: ${preset}`]),
    ...(required === true ? ['required'] : []),
    ...(repeatable === true ? ['repeatable'] : []),
  ];
  return notes.length === 0 ? about : `${about} (${notes.join('; ')})`;
}

/** What is too long for the first column has the second one below it. */
const widest = 34;

function table(rows: readonly (readonly [string, string])[]): string[] {
  const short = rows.map(([head]) => head.length).filter((length) => length <= widest);
  const width = Math.max(0, ...short);
  return rows.flatMap(([head, about]) =>
    head.length <= width ? [`  ${head.padEnd(width)}  ${about}`] : [`  ${head}`, `  ${' '.repeat(width)}  ${about}`],
  );
}
