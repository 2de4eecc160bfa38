import { at, isEqual, type Json, objectAt } from '../schema/value.ts';
import { checkName, isMissing } from '../checks/fields.ts';
import { configKey } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const mostBytes = 1024 * 1024;

/** Keys that a type of Secret must have. */
const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

export function checkConfigMap(report: Report, object: Json): void {
  const data = objectAt(object, 'data');
  const binaryData = objectAt(object, 'binaryData');
  for (const key of Object.keys(data)) {
    checkName(report, { path: `data[${key}]`, value: key }, configKey);
    if (key in binaryData) {
      report.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    }
  }
  for (const key of Object.keys(binaryData)) {
    checkName(report, { path: `binaryData[${key}]`, value: key }, configKey);
  }
  if (sizeOf(data) + (sizeOf(binaryData) * 3) / 4 > mostBytes) {
    report.tooLong('[]', mostBytes);
  }
}

function sizeOf(texts: Json): number {
  let bytes = 0;
  for (const text of Object.values(texts)) {
    bytes += Buffer.byteLength(String(text));
  }
  return bytes;
}

export function checkSecret(report: Report, object: Json): void {
  const data = objectAt(object, 'data');
  for (const key of Object.keys(data)) {
    checkName(report, { path: `data[${key}]`, value: key }, configKey);
  }
  if ((sizeOf(data) * 3) / 4 > mostBytes) {
    report.tooLong('data', mostBytes);
  }
  for (const key of secretKeys[String(object['type'])] ?? []) {
    if (data[key] === undefined) {
      report.required(`data[${key}]`);
    }
  }
  if (object['type'] === 'kubernetes.io/service-account-token') {
    checkTokenSecret(report, object);
  }
}

function checkTokenSecret(report: Report, object: Json): void {
  const annotation = 'kubernetes.io/service-account.name';
  if (isMissing(at(object, 'metadata', 'annotations', annotation))) {
    report.required(`metadata.annotations[${annotation}]`);
  }
}

/** What was declared immutable stays, and the declaration too. */
export function checkImmutable(report: Report, object: Json, old: Json): void {
  if (old['immutable'] !== true) {
    return;
  }
  const detail = 'field is immutable when `immutable` is set';
  if (object['immutable'] !== true) {
    report.forbidden('immutable', detail);
  }
  for (const name of ['data', 'binaryData']) {
    if (!isEqual(object[name] ?? {}, old[name] ?? {})) {
      report.forbidden(name, detail);
    }
  }
}

export function checkSecretUpdate(report: Report, object: Json, old: Json): void {
  if (object['type'] !== old['type']) {
    report.invalid('type', object['type'], 'field is immutable');
  }
  checkImmutable(report, object, old);
}
