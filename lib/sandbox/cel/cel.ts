import { Environment, ParseError, type ParseResult, type TypeCheckResult } from '@marcbachmann/cel-js';
import { addKubernetesFunctions } from './cel-functions.ts';
import { undeclaredPresence } from './cel-presence.ts';
import { declareType } from './cel-types.ts';
import type { Schema } from '../schema/schema.ts';

/** What an expression may use: variables of a schema, or ones whose fields (or presence) are only known when it runs. */
export type Variables = Readonly<Record<string, Schema | 'dyn' | 'optional'>>;

/** An expression that passed the check and can be evaluated; errors of evaluation are thrown. */
export type Expression = (values: Readonly<Record<string, unknown>>) => unknown;

export type Compiled =
  | { readonly ok: true; readonly type: string; readonly evaluate: Expression }
  | { readonly ok: false; readonly problem: string };

/** Checks an expression against the types of its variables; what cannot be evaluated is refused here, with the place. */
export function compileExpression(text: string, variables: Variables): Compiled {
  const checked = checkExpression(text, variables);
  if (!checked.valid) {
    return { ok: false, problem: problemText(text, checked.error) };
  }
  const { type = 'dyn' } = checked;
  const run = parse(text, Object.keys(variables));
  const undeclared = undeclaredPresence(run.ast, variables);
  if (undeclared !== undefined) {
    return { ok: false, problem: located(text, undeclared.offset, `undefined field '${undeclared.field}'`) };
  }
  return { ok: true, type, evaluate: (values) => run({ ...values }) as unknown };
}

function newEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  addKubernetesFunctions(environment);
  return environment;
}

function checkExpression(text: string, variables: Variables): TypeCheckResult {
  const environment = newEnvironment();
  for (const [name, schema] of Object.entries(variables)) {
    const type = typeof schema === 'string' ? schema : declareType(environment, schema, `${name}_type`);
    environment.registerVariable(name, type);
  }
  return environment.check(text);
}

/** The checked types are not repeated when it runs: values come straight from objects that fit their schema. */
function parse(text: string, names: readonly string[]): ParseResult {
  const environment = newEnvironment();
  for (const name of names) {
    environment.registerVariable(name, 'dyn');
  }
  return environment.parse(text);
}

function problemText(text: string, error: TypeCheckResult['error']): string {
  const reason = reasonText(error);
  const start = error?.range?.start ?? 0;
  return located(text, reason.startsWith('undefined field') && text[start - 1] === '.' ? start - 1 : start, reason);
}

/** The message in the form that the API server gives it: place, reason, and the line with a mark below. */
function located(text: string, offset: number, reason: string): string {
  const before = text.slice(0, offset).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = text.split('\n')[before.length - 1] ?? '';
  return `compilation failed: ERROR: <input>:${before.length}:${column + 1}: ${reason}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

/** What the evaluator says, and how the API server says it. */
const wordings: readonly [RegExp, string][] = [
  [/^Unknown variable: (.+)$/, "undeclared reference to '$1' (in container '')"],
  [/^No such key: (.+)$/, "undefined field '$1'"],
  [/^no such overload: (\S+) (\S+) (\S+)$/, "found no matching overload for '_$2_' applied to '($1, $3)'"],
];

function reasonText(error: TypeCheckResult['error']): string {
  const summary = error?.summary ?? 'cannot be compiled';
  if (error instanceof ParseError) {
    return `Syntax error: ${summary}`;
  }
  const [wording] = wordings.filter(([pattern]) => pattern.test(summary));
  return wording === undefined ? summary : summary.replace(...wording);
}
