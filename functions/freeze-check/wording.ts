import type { Problem } from './problem.ts';

/** How many objects are named where more are meant. */
const mostNames = 5;

/** `a, b and 3 more`, so that what people read stays short. */
export function some(names: readonly string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return `${names.slice(0, mostNames).join(', ')}${more}`;
}

/** The API server takes no endless text, and problems are mended one by one. */
const longestText = 1000;

export function problemText(problems: readonly Problem[]): string {
  return problems
    .map(({ message }) => message)
    .join('; ')
    .slice(0, longestText);
}

export function driftText(contested: readonly string[]): string {
  return `Their ApplicationSet may undo the pause of ${some(contested)}: let it ignore /spec/syncPolicy/automated (ignoreApplicationDifferences)`;
}
