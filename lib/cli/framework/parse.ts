import { parseArgs } from 'node:util';
import { allOptions, type Command, type Option, type Options } from './command.ts';
import { suggestion } from '../../base/suggest.ts';
import { UsageError } from './errors.ts';

/** The command line of one command, read by what the command says of itself. */
export interface Parsed {
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

type Tokens = NonNullable<ReturnType<typeof parseArgs>['tokens']>;
type OptionToken = Extract<Tokens[number], { readonly kind: 'option' }>;

/** Throws a UsageError that names what is wrong and the nearest thing that would be right. */
export function parseCommandLine(command: Command, args: readonly string[]): Parsed {
  const options = allOptions(command);
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(options).map(([name, option]) => [name, parserOption(option)])),
    strict: false, // its messages know neither values nor suggestions
    allowPositionals: true,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  for (const token of given) {
    checkToken(token, options);
  }
  if (given.some(({ name }) => name === 'help' || name === 'version')) {
    return { options: valuesOf(given, options), positionals };
  }
  checkRequired(given, options);
  checkPositionals(positionals, command);
  return { options: valuesOf(given, options), positionals };
}

function parserOption({ short, value }: Option): { type: 'string' | 'boolean'; short?: string } {
  return { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) };
}

function checkToken({ name, rawName, value, inlineValue }: OptionToken, options: Options): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const known = Object.keys(options).map((each) => `--${each}`);
    throw new UsageError(`there is no option ${rawName}${suggestion(rawName, known)}`);
  }
  if (option.value === undefined) {
    if (value !== undefined) {
      throw new UsageError(`${rawName} takes no value, got ${JSON.stringify(value)}`);
    }
    return;
  }
  if (value === undefined || (!inlineValue && value.length > 1 && value.startsWith('-'))) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`);
  }
  checkChoice(rawName, value, option.choices);
}

function checkChoice(what: string, value: string, choices: readonly string[] | undefined): void {
  if (choices?.includes(value) === false) {
    throw new UsageError(
      `${what} must be one of ${choices.join(', ')}, got ${JSON.stringify(value)}${suggestion(value, choices)}`,
    );
  }
}

function checkRequired(given: readonly OptionToken[], options: Options): void {
  const missing = Object.entries(options)
    .filter(([name, { required }]) => required === true && !given.some((token) => token.name === name))
    .map(([name, { value = '' }]) => `--${name} ${value}`);
  if (missing.length > 0) {
    throw new UsageError(`it needs ${missing.join(', ')}`);
  }
}

function checkPositionals(given: readonly string[], { positionals = [] }: Command): void {
  const missing = positionals.find(({ required }, index) => required === true && given[index] === undefined);
  if (missing !== undefined) {
    throw new UsageError(`it needs ${missing.name}: ${missing.about}`);
  }
  const extra = positionals.at(-1)?.repeatable === true ? undefined : given[positionals.length];
  if (extra !== undefined) {
    throw new UsageError(`it does not take ${JSON.stringify(extra)}`);
  }
  for (const [index, { name, choices }] of positionals.entries()) {
    const value = given[index];
    if (value !== undefined) {
      checkChoice(name, value, choices);
    }
  }
}

function valuesOf(given: readonly OptionToken[], options: Options): Parsed['options'] {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]): [string, Parsed['options'][string]] => {
      const values = given.filter((token) => token.name === name).map(({ value }) => value ?? '');
      if (option.value === undefined) {
        return [name, values.length > 0];
      }
      return [name, option.repeatable === true ? values : (values.at(-1) ?? option.default)];
    }),
  );
}
