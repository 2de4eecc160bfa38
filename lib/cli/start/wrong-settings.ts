import { ConfigError, variablesFor, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { readSettings } from '../../function/settings.ts';
import { CommandError } from '../framework/errors.ts';

/** Throws one error that names every wrong setting, whose it is, and the ways to put it right. */
export function checkSettings(definitions: readonly Definition[], settings: Environment): void {
  const common = problemsOf([], settings);
  const wrong = definitions
    .map(({ name }, index) => ({
      name,
      problems: problemsOf(definitions.slice(index, index + 1), settings).filter((each) => !common.includes(each)),
    }))
    .filter(({ problems }) => problems.length > 0);
  if (common.length > 0 || wrong.length > 0) {
    const lines = [
      ...common,
      ...wrong.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${withVariables(problem, name)}`)),
      ...(wrong.length > 0 && wrong.length < definitions.length ? [withoutThem(definitions, wrong)] : []),
    ];
    throw new CommandError(2, ['wrong settings', ...lines.map((line) => `  ${line}`)].join('\n'));
  }
}

function problemsOf(definitions: readonly Definition[], settings: Environment): readonly string[] {
  try {
    readSettings(definitions, settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems;
    }
    throw error;
  }
}

/** A setting that is there shows by its name where it stands; one that is missing may stand in two places. */
function withVariables(problem: string, name: string): string {
  const [, key] = /^(\w+) is required/.exec(problem) ?? [];
  return key === undefined ? problem : `${problem}; set ${variablesFor(key, name).join(' or ')}`;
}

function withoutThem(definitions: readonly Definition[], wrong: readonly { readonly name: string }[]): string {
  const names = definitions.map(({ name }) => name).filter((name) => !wrong.some((each) => each.name === name));
  return `or run without ${wrong.map(({ name }) => name).join(', ')} by naming the others: ${names.join(' ')}`;
}
