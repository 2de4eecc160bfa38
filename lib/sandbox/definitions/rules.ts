import { type Compiled, compileExpression } from '../cel/cel.ts';
import { ruleVariables } from './custom-schema.ts';
import type { Schema } from '../schema/schema.ts';
import { isRecord } from '../../base/json.ts';
import { at, type Json, listAt, stringAt } from '../schema/value.ts';
import { checkOneOf } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

interface Spot {
  readonly path: string;
  /** The list around the place whose items cannot be followed from one version of an object to the next. */
  readonly uncorrelated?: string;
}

/** Checks `x-kubernetes-validations`: what cannot be evaluated is refused here. */
export function checkRules(report: Report, schema: Schema, spot: Spot): void {
  const { path } = spot;
  for (const [index, rule] of listAt(schema.constraints?.keywords, 'x-kubernetes-validations').entries()) {
    checkRule(report, isRecord(rule) ? rule : {}, schema, {
      ...spot,
      path: `${path}.x-kubernetes-validations[${index}]`,
    });
  }
  for (const [name, property] of schema.properties) {
    checkRules(report, property, { ...spot, path: `${path}.properties[${name}]` });
  }
  if (schema.items !== undefined) {
    const isFollowed = schema.sharing === 'keyed' || spot.uncorrelated !== undefined;
    checkRules(report, schema.items, { ...spot, path: `${path}.items`, ...(isFollowed ? {} : { uncorrelated: path }) });
  }
  if (schema.values !== undefined) {
    checkRules(report, schema.values, { ...spot, path: `${path}.additionalProperties` });
  }
}

function checkRule(report: Report, rule: Json, schema: Schema, spot: Spot): void {
  const text = stringAt(rule, 'rule') ?? '';
  if (text.trim() === '') {
    report.required(`${spot.path}.rule`, 'rule is not specified');
    return;
  }
  const before = report.causes.length;
  checkOneOf(report, { path: `${spot.path}.reason`, value: rule['reason'] }, reasons);
  if (spot.uncorrelated !== undefined && /\boldSelf\b/.test(text)) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${spot.uncorrelated}`;
    report.invalid(`${spot.path}.rule`, text, detail);
  }
  if (report.causes.length === before) {
    checkExpressions(report, rule, schema, spot.path);
  }
}

function checkExpressions(report: Report, rule: Json, schema: Schema, path: string): void {
  const variables = ruleVariables(schema, rule['optionalOldSelf'] === true);
  const shown = shownRule(rule);
  const compiled = compileExpression(stringAt(rule, 'rule') ?? '', variables);
  if (!compiled.ok) {
    report.invalid(`${path}.rule`, shown, compiled.problem);
  } else if (!gives(compiled, 'bool')) {
    report.invalid(`${path}.rule`, shown, 'cel expression must evaluate to a bool');
  }
  const expression = stringAt(rule, 'messageExpression');
  const message = expression === undefined ? undefined : compileExpression(expression, variables);
  if (message?.ok === false) {
    report.invalid(`${path}.messageExpression`, shown, `messageExpression ${message.problem}`);
  } else if (message !== undefined && !gives(message, 'string')) {
    report.invalid(`${path}.messageExpression`, shown, 'messageExpression must evaluate to a string');
  }
}

function gives(compiled: Compiled, type: string): boolean {
  return compiled.ok && (compiled.type === type || compiled.type === 'dyn');
}

/** The rule as Go prints it. */
function shownRule(rule: Json): Json {
  return {
    Rule: rule['rule'] ?? '',
    Message: rule['message'] ?? '',
    MessageExpression: rule['messageExpression'] ?? '',
    Reason: at(rule, 'reason') ?? null,
    FieldPath: rule['fieldPath'] ?? '',
    OptionalOldSelf: rule['optionalOldSelf'] ?? null,
  };
}
