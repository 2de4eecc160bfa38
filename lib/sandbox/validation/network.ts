import { isIP } from 'node:net';
import { isRecord } from '../../base/json.ts';
import { at, type Json, listAt, stringAt } from '../schema/value.ts';
import {
  checkLabels,
  checkName,
  checkOneOf,
  checkPort,
  checkRequiredName,
  checkUnique,
  field,
  isMissing,
  type Place,
} from '../checks/fields.ts';
import { label, labelWithoutDots, portName, subdomain, wildcardSubdomain } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

export function checkService(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  const type = at(value, 'type');
  const ports = listAt(value, 'ports').map((port, index) => ({ path: `${path}.ports[${index}]`, value: port }));
  const isHeadless = at(value, 'clusterIP') === 'None';
  if (type === 'ExternalName') {
    checkRequiredName(report, field(value, path, 'externalName'), subdomain);
  } else if (ports.length === 0 && !isHeadless) {
    report.required(`${path}.ports`);
  }
  for (const port of ports) {
    checkServicePort(report, port, ports.length > 1);
  }
  checkUnique(
    report,
    ports.map((port) => field(port.value, port.path, 'name')).filter(({ value: name }) => !isMissing(name)),
  );
  checkUniquePorts(report, ports);
  checkLabels(report, field(value, path, 'selector'));
  checkOneOf(report, field(value, path, 'sessionAffinity'), ['ClientIP', 'None']);
  checkOneOf(report, field(value, path, 'type'), serviceTypes);
  checkClusterIps(report, { path: `${path}.clusterIPs`, value: at(value, 'clusterIPs') ?? [at(value, 'clusterIP')] });
}

function checkServicePort(report: Report, { path, value }: Place, needsName: boolean): void {
  const name = field(value, path, 'name');
  if (isMissing(name.value)) {
    if (needsName) {
      report.required(name.path);
    }
  } else {
    checkName(report, name, labelWithoutDots);
  }
  const port = field(value, path, 'port');
  checkPort(report, { ...port, value: port.value ?? 0 });
  checkOneOf(report, field(value, path, 'protocol'), ['SCTP', 'TCP', 'UDP']);
  const target = field(value, path, 'targetPort');
  checkPort(report, target);
  checkName(report, target, portName);
}

function checkUniquePorts(report: Report, ports: readonly Place[]): void {
  const seen = new Set<string>();
  for (const { path, value } of ports) {
    const { protocol, port } = isRecord(value) ? value : {};
    const key = JSON.stringify([protocol, port]);
    if (seen.has(key)) {
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      report.duplicate(path, shown);
    }
    seen.add(key);
  }
}

function checkClusterIps(report: Report, { path, value }: Place): void {
  for (const [index, address] of listAt({ value }, 'value').entries()) {
    if (typeof address === 'string' && address !== 'None' && isIP(address) === 0) {
      report.invalid(`${path}[${index}]`, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
    }
  }
}

export function checkServiceUpdate(report: Report, object: Json, old: Json): void {
  const [before] = listAt(old, 'spec', 'clusterIPs');
  const now = at(object, 'spec', 'clusterIP');
  const isExternal = [object, old].some((one) => at(one, 'spec', 'type') === 'ExternalName');
  if (!isExternal && before !== undefined && now !== before) {
    report.invalid('spec.clusterIPs[0]', [now], 'may not change once set');
  }
}

export function checkIngress(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  const rules = listAt(value, 'rules');
  const backend = field(value, path, 'defaultBackend');
  if (rules.length === 0 && backend.value === undefined) {
    report.invalid(path, undefined, 'either `defaultBackend` or `rules` must be specified');
  }
  for (const [index, tls] of listAt(value, 'tls').entries()) {
    checkTls(report, { path: `${path}.tls[${index}]`, value: tls });
  }
  for (const [index, rule] of rules.entries()) {
    checkIngressRule(report, { path: `${path}.rules[${index}]`, value: rule });
  }
  if (backend.value !== undefined) {
    checkBackend(report, backend);
  }
  const className = field(value, path, 'ingressClassName');
  checkName(report, className, subdomain);
  const annotation = 'kubernetes.io/ingress.class';
  const legacy = stringAt(object, 'metadata', 'annotations', annotation);
  if (legacy !== undefined && className.value !== undefined && legacy !== className.value) {
    report.invalid(`annotations.${annotation}`, legacy, 'must match `ingressClassName` when both are specified');
  }
}

function checkTls(report: Report, { path, value }: Place): void {
  for (const [index, host] of listAt(value, 'hosts').entries()) {
    checkHost(report, { path: `${path}.hosts[${index}]`, value: host });
  }
  checkName(report, field(value, path, 'secretName'), subdomain);
}

function checkHost(report: Report, { path, value }: Place): void {
  checkName(report, { path, value }, String(value).includes('*') ? wildcardSubdomain : subdomain);
}

function checkIngressRule(report: Report, { path, value }: Place): void {
  const host = field(value, path, 'host');
  if (isIP(String(host.value)) !== 0) {
    report.invalid(host.path, host.value, 'must be a DNS name, not an IP address');
  } else if (!isMissing(host.value)) {
    checkHost(report, host);
  }
  const http = field(value, path, 'http');
  if (!isRecord(http.value)) {
    return;
  }
  const paths = listAt(http.value, 'paths');
  if (paths.length === 0) {
    report.required(`${http.path}.paths`);
  }
  for (const [index, item] of paths.entries()) {
    checkHttpPath(report, { path: `${http.path}.paths[${index}]`, value: item });
  }
}

function checkHttpPath(report: Report, { path, value }: Place): void {
  const type = field(value, path, 'pathType');
  if (type.value === undefined) {
    report.required(type.path, 'pathType must be specified');
  } else if (type.value === 'Exact' || type.value === 'Prefix') {
    checkAbsolutePath(report, field(value, path, 'path'));
  } else {
    checkOneOf(report, type, pathTypes);
    checkFreePath(report, field(value, path, 'path'));
  }
  checkBackend(report, field(value, path, 'backend'));
}

function checkAbsolutePath(report: Report, place: Place): void {
  const { path, value = '' } = place;
  if (!String(value).startsWith('/')) {
    report.invalid(path, String(value), 'must be an absolute path');
  }
}

function checkFreePath(report: Report, { path, value }: Place): void {
  if (!isMissing(value) && !String(value).startsWith('/')) {
    report.invalid(path, value, 'must be an absolute path');
  }
}

function checkBackend(report: Report, { path, value }: Place): void {
  const { service, resource } = isRecord(value) ? value : {};
  if (service === undefined && resource === undefined) {
    report.invalid(path, '', 'resource or service backend is required');
  } else if (service !== undefined && resource !== undefined) {
    report.invalid(path, '', 'cannot set both resource and service backends');
  } else if (service !== undefined) {
    checkRequiredName(report, field(service, `${path}.service`, 'name'), label);
    checkBackendPort(report, path, at(service, 'port'));
  }
}

function checkBackendPort(report: Report, path: string, port: unknown): void {
  const name = field(port, `${path}.service.port`, 'name');
  const number = field(port, `${path}.service.port`, 'number');
  if (isMissing(name.value) && isMissing(number.value)) {
    report.required(path, 'port name or number is required');
  } else if (!isMissing(name.value) && !isMissing(number.value)) {
    report.invalid(path, '', 'cannot set both port name & port number');
  } else {
    checkName(report, name, portName);
    checkPort(report, number);
  }
}
