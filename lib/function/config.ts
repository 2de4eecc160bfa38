import { accessSync, constants } from 'node:fs';
import * as z from 'zod';

/** The settings of a function: a zod object whose keys are the names of environment variables. */
export type ConfigSchema<C> = z.ZodObject & z.ZodType<C>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Wrong settings, all of them at once. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['wrong settings', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads each setting as `<FUNCTION>_<NAME>`, then `<NAME>`. An empty variable counts as absent. */
export function parseConfig<C>(schema: ConfigSchema<C>, environment: Environment, name?: string): C {
  const prefix = name === undefined ? '' : `${name.replaceAll('-', '_').toUpperCase()}_`;
  const given = Object.keys(schema.shape).flatMap((key) => {
    const variable = [prefix + key, key].find((candidate) => (environment[candidate] ?? '') !== '');
    return variable === undefined ? [] : [{ key, variable, value: environment[variable] }];
  });
  const values = Object.fromEntries(given.map(({ key, value }) => [key, value]));
  const result = schema.safeParse(values, { jitless: true }); // a parser that runs once is not worth compiling
  if (result.success) {
    return result.data;
  }
  throw new ConfigError(result.error.issues.map((issue) => describeProblem(issue, given, schema)));
}

/** The example of each setting that has to be given: enough to start with, and what a manifest shows as placeholder. */
export function exampleEnvironment(schema: z.ZodObject): Record<string, string> {
  const shape = schema.shape as Readonly<Record<string, unknown>>;
  const required = Object.entries(shape).filter(
    ([, setting]) => setting instanceof z.ZodType && !setting.safeParse(undefined).success,
  );
  return Object.fromEntries(required.map(([name, setting]) => [name, exampleOf(setting) ?? '']));
}

interface Given {
  readonly key: string;
  readonly variable: string;
  readonly value: string | undefined;
}

function describeProblem({ path, message }: z.core.$ZodIssue, given: readonly Given[], schema: z.ZodObject): string {
  const key = String(path[0] ?? '');
  const found = given.find((candidate) => candidate.key === key);
  const example = exampleOf((schema.shape as Readonly<Record<string, unknown>>)[key]);
  const problem = found === undefined ? 'is required' : `${message}, got ${quote(found.value ?? '')}`;
  return `${found?.variable ?? key} ${problem}${example === undefined ? '' : ` (example: ${example})`}`;
}

/** A default or an optional is wrapped around the setting that carries the example. */
function exampleOf(setting: unknown): string | undefined {
  if (setting instanceof z.ZodDefault || setting instanceof z.ZodOptional) {
    return exampleOf(setting.unwrap());
  }
  const example = setting instanceof z.ZodType ? setting.meta()?.['example'] : undefined;
  return typeof example === 'string' ? example : undefined;
}

function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

/** A setting with its description and an example, for error messages and the README. */
interface About {
  readonly about: string;
  readonly example: string;
}

/** Free text that must match a pattern. */
export function text({
  about,
  example,
  pattern,
}: About & { readonly pattern?: { test: RegExp; says: string } }): z.ZodString {
  const base = z.string('must be text');
  return (pattern === undefined ? base : base.regex(pattern.test, pattern.says)).meta({ about, example });
}

export function integer({
  about,
  example,
  min,
  max,
}: About & { readonly min: number; readonly max: number }): z.ZodCoercedNumber {
  const says = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(says).int(says).min(min, says).max(max, says).meta({ about, example });
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  { about }: Omit<About, 'example'>,
): z.ZodEnum<{ [K in Value]: K }> {
  return z.enum(values, `must be one of ${values.join(', ')}`).meta({ about, example: values[0] });
}

export function flag({ about }: Omit<About, 'example'>): z.ZodCodec<z.ZodString, z.ZodBoolean> {
  return z.stringbool({ error: 'must be true or false' }).meta({ about, example: 'true' });
}

/** A file that must be readable when the process starts. */
export function file(about: About): z.ZodString {
  return text(about).refine(isReadable, 'must be a readable file');
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A comma-separated list. */
export function list({
  about,
  example,
  item,
}: About & { readonly item: { test: RegExp; says: string } }): z.ZodType<string[], string> {
  return z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine((parts) => parts.every((part) => item.test.test(part)), item.says)
    .meta({ about, example });
}

export const dnsLabel = { test: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, says: 'must be a DNS label (a-z, 0-9, -)' };
