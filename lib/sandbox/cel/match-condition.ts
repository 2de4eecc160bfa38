import { compileExpression, type Variables } from './cel.ts';

/** What a condition sees; `authorizer` would need the rights of other users and is not offered. */
const variables: Variables = { object: 'dyn', oldObject: 'dyn', request: 'dyn' };

/** The values of `object`, `oldObject` (null where there is none) and `request`. */
export type Reviewed = Readonly<Record<string, unknown>>;

/** What is wrong with a match condition, in the API server's words; nothing when it can be evaluated. */
export function matchConditionProblem(expression: string): string | undefined {
  if (/\bauthorizer\b/.test(expression)) {
    return 'the sandbox does not serve "authorizer" in match conditions';
  }
  const compiled = compileExpression(expression, variables);
  if (!compiled.ok) {
    return compiled.problem;
  }
  const isTruth = compiled.type === 'bool' || compiled.type === 'dyn';
  return isTruth ? undefined : `must evaluate to bool but got ${compiled.type}`;
}

type Condition = (reviewed: Reviewed) => boolean;

/** Evaluates match conditions, each compiled once; throws when one cannot be decided. */
export function createMatchConditions(): (expression: string, reviewed: Reviewed) => boolean {
  const conditions = new Map<string, Condition>();
  return (expression, reviewed) => {
    const condition = conditions.get(expression) ?? compileCondition(expression);
    conditions.set(expression, condition);
    return condition(reviewed);
  };
}

function compileCondition(expression: string): Condition {
  const compiled = compileExpression(expression, variables);
  if (!compiled.ok) {
    throw new Error(compiled.problem);
  }
  const { evaluate } = compiled;
  return ({ object = null, oldObject = null, request }) => {
    const result = evaluate(toCel({ object, oldObject, request }));
    if (typeof result !== 'boolean') {
      throw new Error(`must evaluate to bool: ${expression}`);
    }
    return result;
  };
}

function toCel(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, wholeNumbers(value)]));
}

/** JSON has one kind of number; CEL's integers are another type. */
function wholeNumbers(value: unknown): unknown {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? BigInt(value) : value;
  }
  if (Array.isArray(value)) {
    return Array.from(value, wholeNumbers);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wholeNumbers(inner)]));
  }
  return value;
}
