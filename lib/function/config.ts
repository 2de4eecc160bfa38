import { accessSync, constants } from 'node:fs';
import * as z from 'zod/mini';
import { $ZodDefault, $ZodOptional } from 'zod/v4/core';
import { quote } from '../base/quote.ts';
import { parseDuration } from '../time/duration.ts';

/**
 * The settings of a function: a zod object whose keys are the names of environment variables. The settings here use
 * zod/mini, which adds a third of zod's time to every start; schemas of zod itself work, too.
 */
export type ConfigSchema<C> = z.core.$ZodObject & z.core.$ZodType<C>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Lists all wrong settings at once. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['wrong settings', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads each setting from the variable `<FUNCTION>_<NAME>` or else `<NAME>`. An empty variable counts as absent, unless
 * the setting may be empty.
 */
export function parseConfig<C>(schema: ConfigSchema<C>, environment: Environment, name?: string): C {
  const given = Object.keys(schema._zod.def.shape).flatMap((key) => {
    const variable = variablesFor(key, name).find((candidate) => isGiven(schema, key, environment[candidate]));
    return variable === undefined ? [] : [{ key, variable, value: environment[variable] }];
  });
  const values = Object.fromEntries(given.map(({ key, value }) => [key, value]));
  const result = z.safeParse(schema, values, { jitless: true }); // a parser that runs once is not worth compiling
  if (result.success) {
    return result.data;
  }
  throw new ConfigError(result.error.issues.map((issue) => describeProblem(issue, given, schema)));
}

/** Whether the value of a variable counts for this setting. */
export function isGiven(schema: z.core.$ZodObject, key: string, value: string | undefined): boolean {
  const setting = schema._zod.def.shape[key];
  return value !== undefined && (value !== '' || (setting !== undefined && hasMark(setting, 'mayBeEmpty')));
}

/** The variables of a setting; the first one that is set counts. */
export function variablesFor(key: string, name?: string): readonly string[] {
  return name === undefined ? [key] : [`${name.replaceAll('-', '_').toUpperCase()}_${key}`, key];
}

/**
 * The example of each setting that has no default or that every installation must decide. Enough to start with, and the
 * placeholders in manifests.
 */
export function exampleEnvironment(schema: z.core.$ZodObject): Record<string, string> {
  const shown = Object.entries(schema._zod.def.shape).filter(
    ([, setting]) => !z.safeParse(setting, undefined, { jitless: true }).success || hasMark(setting, 'forInstaller'),
  );
  return Object.fromEntries(shown.map(([name, setting]) => [name, exampleOf(setting) ?? '']));
}

interface Given {
  readonly key: string;
  readonly variable: string;
  readonly value: string | undefined;
}

function describeProblem(
  { path, message }: z.core.$ZodIssue,
  given: readonly Given[],
  schema: z.core.$ZodObject,
): string {
  const key = String(path[0] ?? '');
  const found = given.find((candidate) => candidate.key === key);
  const example = exampleOf(schema._zod.def.shape[key]);
  const problem = found === undefined ? 'is required' : `${message}, got ${quote(found.value ?? '')}`;
  return `${found?.variable ?? key} ${problem}${example === undefined ? '' : ` (example: ${example})`}`;
}

/** Unwraps defaults and optionals, because the inner setting carries the example. */
function exampleOf(setting: z.core.$ZodType | undefined): string | undefined {
  if (setting instanceof $ZodDefault || setting instanceof $ZodOptional) {
    return exampleOf(setting._zod.def.innerType);
  }
  const example = setting === undefined ? undefined : z.globalRegistry.get(setting)?.['example'];
  return typeof example === 'string' ? example : undefined;
}

/** The description and the example of a setting, for error messages and the README. */
interface About {
  readonly about: string;
  readonly example: string;
}

/** A setting that is parsed from text. */
export type Setting<Value> = z.ZodMiniType<Value, string>;

/**
 * Parses a text in one step; `read` returns `undefined` if the text is wrong, and `says` describes what is expected.
 * One schema instead of a chain of checks, because every function builds all its settings before it listens.
 */
function setting<Value>(
  { about, example }: About,
  says: string,
  read: (given: string) => Value | undefined,
): Setting<Value> {
  const schema = z.transform((given: string, { issues }) => {
    const value = typeof given === 'string' ? read(given) : undefined;
    if (value === undefined) {
      issues.push({ code: 'custom', input: given, message: says });
      return z.NEVER;
    }
    return value;
  });
  return schema.register(z.globalRegistry, { about, example });
}

/** A pattern and its description for error messages: `must be …`. */
export interface Pattern {
  readonly test: RegExp;
  readonly says: string;
}

/** Free text, optionally matching a pattern. */
export function text({ pattern, ...about }: About & { readonly pattern?: Pattern }): Setting<string> {
  return setting(about, pattern?.says ?? 'must be text', (given) =>
    pattern === undefined || pattern.test.test(given) ? given : undefined,
  );
}

export function integer({
  min,
  max,
  ...about
}: About & { readonly min: number; readonly max: number }): Setting<number> {
  return setting(about, `must be a whole number from ${min} to ${max}`, (given) => {
    const value = Number(given);
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
  });
}

/** A duration as Go writes it (`1h30m`), in milliseconds. */
export function duration(about: About): Setting<number> {
  return setting(about, 'must be a duration such as 90s, 30m or 1h30m', (given) => {
    try {
      const value = parseDuration(given);
      return value >= 0 ? value : undefined;
    } catch {
      return undefined;
    }
  });
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  { about }: Omit<About, 'example'>,
): Setting<Value> {
  const example = values[0] ?? '';
  return setting({ about, example }, `must be one of ${values.join(', ')}`, (given) =>
    values.find((value) => value === given),
  );
}

/** Only `true` and `false`: it is unclear whether `1`, `yes` or `True` would mean the same. */
export function flag({ about }: Omit<About, 'example'>): Setting<boolean> {
  const words = new Map([
    ['true', true],
    ['false', false],
  ]);
  return setting({ about, example: 'true' }, 'must be true or false', (given) => words.get(given));
}

/** A setting that is optional on a laptop, but that every installation must decide. */
export function forInstaller<T extends z.core.$ZodType>(setting: T): z.ZodMiniOptional<T> {
  const optional = z.optional(setting);
  z.globalRegistry.add(optional, { forInstaller: true });
  return optional;
}

/** A setting with a default that an empty variable overrides. */
export function mayBeEmpty<T extends z.core.$ZodType>(setting: T): T {
  z.globalRegistry.add(setting, { mayBeEmpty: true });
  return setting;
}

function hasMark(setting: z.core.$ZodType, mark: 'forInstaller' | 'mayBeEmpty'): boolean {
  return z.globalRegistry.get(setting)?.[mark] === true;
}

/** A setting with a default. */
export function withDefault<T extends z.core.$ZodType>(
  setting: T,
  value: z.core.util.NoUndefined<z.core.output<T>>,
): z.ZodMiniDefault<T> {
  return z._default(setting, value);
}

/** A file that must be readable when the process starts. */
export function file(about: About): Setting<string> {
  return setting(about, 'must be a readable file', (path) => (isReadable(path) ? path : undefined));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A comma-separated list without duplicates. */
export function list({ item, ...about }: About & { readonly item: Pattern }): Setting<string[]> {
  return setting(about, item.says, (given) => {
    const parts = given.split(',').map((part) => part.trim());
    const values = [...new Set(parts.filter((part) => part !== ''))];
    return values.every((value) => item.test.test(value)) ? values : undefined;
  });
}

export const dnsLabel: Pattern = {
  test: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  says: 'must be a DNS label (a-z, 0-9, -)',
};
