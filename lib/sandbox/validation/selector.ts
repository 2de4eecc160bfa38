import { isRecord } from '../../base/json.ts';
import { listAt, objectAt } from '../schema/value.ts';
import { checkLabels, checkName, field, type Place } from '../checks/fields.ts';
import { qualifiedName } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Checks a label selector; answers whether it can be evaluated. */
export function checkSelector(report: Report, { path, value }: Place): boolean {
  const before = report.causes.length;
  checkLabels(report, field(value, path, 'matchLabels'));
  for (const [index, expression] of listAt(value, 'matchExpressions').entries()) {
    checkExpression(report, expression, `${path}.matchExpressions[${index}]`);
  }
  return report.causes.length === before;
}

function checkExpression(report: Report, expression: unknown, path: string): void {
  const { operator } = isRecord(expression) ? expression : {};
  const hasValues = listAt(expression, 'values').length > 0;
  checkName(report, field(expression, path, 'key'), qualifiedName);
  if (!operators.includes(String(operator))) {
    report.invalid(`${path}.operator`, operator, 'not a valid selector operator');
  } else if ((operator === 'In' || operator === 'NotIn') && !hasValues) {
    report.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if ((operator === 'Exists' || operator === 'DoesNotExist') && hasValues) {
    report.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
}

export function isEmptySelector(value: unknown): boolean {
  return Object.keys(objectAt(value, 'matchLabels')).length === 0 && listAt(value, 'matchExpressions').length === 0;
}
