import { Environment, ParseError, TypeError as CelTypeError, type TypeCheckResult } from '@marcbachmann/cel-js';
import { addKubernetesFunctions } from './cel-functions.ts';
import { declareType } from './cel-types.ts';
import type { Schema } from './schema.ts';

/** What an expression may use: a variable of a schema, or one whose fields are only known when it runs. */
export type Variables = Readonly<Record<string, Schema | 'dyn'>>;

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
  return { ok: true, type, evaluate: evaluator(text, Object.keys(variables)) };
}

function newEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  addKubernetesFunctions(environment);
  return environment;
}

function checkExpression(text: string, variables: Variables): TypeCheckResult {
  const environment = newEnvironment();
  for (const [name, schema] of Object.entries(variables)) {
    environment.registerVariable(name, schema === 'dyn' ? 'dyn' : declareType(environment, schema, `${name}_type`));
  }
  return environment.check(text);
}

/** The checked types are not repeated when it runs: values come straight from objects that fit their schema. */
function evaluator(text: string, names: readonly string[]): Expression {
  const environment = newEnvironment();
  for (const name of names) {
    environment.registerVariable(name, 'dyn');
  }
  const run = environment.parse(text);
  return (values) => run({ ...values }) as unknown;
}

/** The message in the form that the API server gives it: place, reason, and the line with a mark below. */
function problemText(text: string, error: TypeCheckResult['error']): string {
  const offset = error?.range?.start ?? 0;
  const before = text.slice(0, offset).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = text.split('\n')[before.length - 1] ?? '';
  const reason = reasonText(error);
  return `compilation failed: ERROR: <input>:${before.length}:${column + 1}: ${reason}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function reasonText(error: TypeCheckResult['error']): string {
  const summary = error?.summary ?? 'cannot be compiled';
  if (error instanceof ParseError) {
    return `Syntax error: ${summary}`;
  }
  const [, variable] = /^Unknown variable: (.+)$/.exec(summary) ?? [];
  if (variable !== undefined) {
    return `undeclared reference to '${variable}' (in container '')`;
  }
  const [, field] = /^No such key: (.+)$/.exec(summary) ?? [];
  return error instanceof CelTypeError && field !== undefined ? `undefined field '${field}'` : summary;
}
