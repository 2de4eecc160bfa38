import { compareQuantities } from '../../kube/model/quantity.ts';
import { printGo } from '../schema/go-types.ts';
import { isRecord } from '../../base/json.ts';
import { listAt, objectAt } from '../schema/value.ts';
import {
  checkName,
  checkOneOf,
  checkPort,
  checkRequiredName,
  checkUnique,
  field,
  isMissing,
  type Place,
} from '../checks/fields.ts';
import { environmentName, label, portName } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

/** Checks one container; `volumes` are the names that its mounts may use. */
export function checkContainer(report: Report, { path, value }: Place, volumes: ReadonlySet<unknown>): void {
  checkRequiredName(report, field(value, path, 'name'), label);
  checkImage(report, field(value, path, 'image'));
  checkPorts(report, field(value, path, 'ports'));
  for (const [index, variable] of listAt(value, 'env').entries()) {
    checkVariable(report, variable, `${path}.env[${index}]`);
  }
  for (const [index, mount] of listAt(value, 'volumeMounts').entries()) {
    checkMount(report, { path: `${path}.volumeMounts[${index}]`, value: mount }, volumes);
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    checkProbe(report, field(value, path, probe));
  }
  checkOneOf(report, field(value, path, 'imagePullPolicy'), ['Always', 'IfNotPresent', 'Never']);
  checkOneOf(report, field(value, path, 'terminationMessagePolicy'), ['File', 'FallbackToLogsOnError']);
  checkResources(report, field(value, path, 'resources'));
}

function checkImage(report: Report, { path, value }: Place): void {
  if (isMissing(value)) {
    report.required(path);
  } else if (typeof value === 'string' && value.trim() !== value) {
    report.invalid(path, value, 'must not have leading or trailing whitespace');
  }
}

function checkPorts(report: Report, { path, value }: Place): void {
  const ports = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const names: Place[] = [];
  for (const [index, port] of ports.entries()) {
    const at = `${path}[${index}]`;
    const name = field(port, at, 'name');
    if (!isMissing(name.value)) {
      checkName(report, name, portName);
      names.push(name);
    }
    const number = field(port, at, 'containerPort');
    if (number.value === undefined || number.value === 0) {
      report.required(number.path);
    }
    checkPort(report, number.value === 0 ? { path: '', value: undefined } : number);
    checkOneOf(report, field(port, at, 'protocol'), ['SCTP', 'TCP', 'UDP']);
  }
  checkUnique(report, names);
}

function checkVariable(report: Report, variable: unknown, path: string): void {
  checkRequiredName(report, field(variable, path, 'name'), environmentName);
  const { value, valueFrom } = isRecord(variable) ? variable : {};
  if (!isRecord(valueFrom)) {
    return;
  }
  const given = sources.filter((source) => valueFrom[source] !== undefined);
  if (!isMissing(value)) {
    report.invalid(`${path}.valueFrom`, '', 'may not be specified when `value` is not empty');
  } else if (given.length === 0) {
    const names = sources.map((source) => `\`${source}\``);
    const detail = `must specify one of: ${names.slice(0, -1).join(', ')} or ${names.slice(-1).join('')}`;
    report.invalid(`${path}.valueFrom`, '', detail);
  }
}

function checkMount(report: Report, { path, value }: Place, volumes: ReadonlySet<unknown>): void {
  const name = field(value, path, 'name');
  if (isMissing(name.value)) {
    report.required(name.path);
  } else if (!volumes.has(name.value)) {
    report.notFound(name.path, name.value);
  }
  if (isMissing(field(value, path, 'mountPath').value)) {
    report.required(`${path}.mountPath`);
  }
}

function checkProbe(report: Report, { path, value }: Place): void {
  if (!isRecord(value)) {
    return;
  }
  if (handlers.every((handler) => value[handler] === undefined)) {
    report.required(path, 'must specify a handler type');
  }
  for (const handler of ['httpGet', 'tcpSocket', 'grpc']) {
    checkPort(report, field(value[handler], `${path}.${handler}`, 'port'));
  }
}

function checkResources(report: Report, { path, value }: Place): void {
  const limits = objectAt(value, 'limits');
  const requests = objectAt(value, 'requests');
  for (const [list, amounts] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const [name, amount] of Object.entries(amounts)) {
      if (isMore('0', amount)) {
        report.invalid(`${path}.${list}[${name}]`, amount, 'must be greater than or equal to 0');
      }
    }
  }
  for (const [name, amount] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit !== undefined && isMore(amount, limit)) {
      report.invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${printGo(limit)}`);
    }
  }
}

function isMore(a: unknown, b: unknown): boolean {
  return (compareQuantities(String(a), String(b)) ?? 0) > 0;
}
