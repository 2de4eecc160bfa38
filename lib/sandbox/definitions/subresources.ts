import { at, isObject, listAt } from '../schema/value.ts';
import { isMissing, type Place } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const simplePath = /^(\.[A-Za-z_](?:[\w/-]|\\.)*|\['[^']+'\]|\[\d+\]|\[\?\(.*\)\]|\[\*\]|\.\*)+$/;

export function checkSubresources(report: Report, { path, value }: Place): void {
  const scale = at(value, 'scale');
  if (!isObject(scale)) {
    return;
  }
  checkScalePath(report, { path: `${path}.scale.specReplicasPath`, value: scale['specReplicasPath'] }, '.spec');
  checkScalePath(report, { path: `${path}.scale.statusReplicasPath`, value: scale['statusReplicasPath'] }, '.status');
  if (!isMissing(scale['labelSelectorPath'])) {
    checkSimplePath(report, { path: `${path}.scale.labelSelectorPath`, value: scale['labelSelectorPath'] });
  }
}

function checkScalePath(report: Report, { path, value }: Place, under: string): void {
  if (isMissing(value)) {
    report.required(path);
  } else if (checkSimplePath(report, { path, value }) && !String(value).startsWith(`${under}.`)) {
    report.invalid(path, value, `should be a json path under ${under}`);
  }
}

function checkSimplePath(report: Report, { path, value }: Place): boolean {
  const isSimple = String(value).startsWith('.') && simplePath.test(String(value));
  if (!isSimple) {
    report.invalid(path, value, 'must be a simple json path starting with .');
  }
  return isSimple;
}

export function checkColumns(report: Report, { path, value }: Place): void {
  for (const [index, column] of listAt({ value }, 'value').entries()) {
    checkColumn(report, { path: `${path}[${index}]`, value: column });
  }
}

function checkColumn(report: Report, { path, value }: Place): void {
  const { name, type, format, jsonPath } = isObject(value) ? value : {};
  if (isMissing(name)) {
    report.required(`${path}.name`);
  }
  if (!columnTypes.includes(String(type))) {
    report.invalid(`${path}.type`, type, `must be one of ${columnTypes.join(',')}`);
  }
  if (!isMissing(format) && !columnFormats.includes(String(format))) {
    report.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`);
  }
  if (isMissing(jsonPath)) {
    report.required(`${path}.JSONPath`);
  } else {
    checkSimplePath(report, { path: `${path}.JSONPath`, value: jsonPath });
  }
}
