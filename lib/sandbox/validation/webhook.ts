import { matchConditionProblem } from '../cel/match-condition.ts';
import { at, type Json, listAt } from '../schema/value.ts';
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
import { label1035, qualifiedName, subdomain } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';
import { checkSelector } from './selector.ts';

const reviewVersions = ['v1', 'v1beta1'];
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Checks a mutating or validating webhook configuration. */
export function checkWebhooks(report: Report, object: Json): void {
  const webhooks = listAt(object, 'webhooks').map((value, index) => ({ path: `webhooks[${index}]`, value }));
  for (const webhook of webhooks) {
    checkWebhook(report, webhook);
  }
  checkUnique(
    report,
    webhooks.map(({ path, value }) => field(value, path, 'name')),
  );
}

function checkWebhook(report: Report, { path, value }: Place): void {
  checkWebhookName(report, field(value, path, 'name'));
  checkReviewVersions(report, field(value, path, 'admissionReviewVersions'));
  for (const [index, rule] of listAt(value, 'rules').entries()) {
    checkRule(report, { path: `${path}.rules[${index}]`, value: rule });
  }
  checkOneOf(report, field(value, path, 'failurePolicy'), ['Fail', 'Ignore']);
  checkOneOf(report, field(value, path, 'matchPolicy'), ['Equivalent', 'Exact']);
  checkSideEffects(report, field(value, path, 'sideEffects'));
  checkTimeout(report, field(value, path, 'timeoutSeconds'));
  checkSelector(report, field(value, path, 'namespaceSelector'));
  checkSelector(report, field(value, path, 'objectSelector'));
  checkOneOf(report, field(value, path, 'reinvocationPolicy'), ['IfNeeded', 'Never']);
  checkClientConfig(report, field(value, path, 'clientConfig'));
  checkConditions(report, field(value, path, 'matchConditions'));
}

function checkWebhookName(report: Report, place: Place): void {
  const { path, value } = place;
  if (isMissing(value)) {
    report.required(path);
    return;
  }
  const problems = subdomain(String(value));
  checkName(report, place, subdomain);
  if (problems.length === 0 && String(value).split('.').length < 3) {
    report.invalid(path, value, 'should be a domain with at least three segments separated by dots');
  }
}

function checkReviewVersions(report: Report, { path, value }: Place): void {
  const versions = listAt({ value }, 'value');
  if (versions.length === 0) {
    report.required(path, `must specify one of ${reviewVersions.join(', ')}`);
    return;
  }
  const before = report.causes.length;
  for (const [index, version] of versions.entries()) {
    checkName(report, { path: `${path}[${index}]`, value: version }, label1035);
  }
  if (report.causes.length === before && !versions.some((version) => reviewVersions.includes(String(version)))) {
    report.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`);
  }
}

function checkSideEffects(report: Report, place: Place): void {
  if (isMissing(place.value)) {
    report.required(place.path, 'must specify one of None, NoneOnDryRun');
  } else {
    checkOneOf(report, place, ['None', 'NoneOnDryRun']);
  }
}

function checkTimeout(report: Report, { path, value }: Place): void {
  if (typeof value === 'number' && (value < 1 || value > 30)) {
    report.invalid(path, value, 'the timeout value must be between 1 and 30 seconds');
  }
}

function checkRule(report: Report, { path, value }: Place): void {
  checkStar(report, field(value, path, 'operations'), 'operations');
  for (const [index, operation] of listAt(value, 'operations').entries()) {
    checkOneOf(report, { path: `${path}.operations[${index}]`, value: operation }, operations);
  }
  checkStar(report, field(value, path, 'apiGroups'), 'API groups');
  checkStar(report, field(value, path, 'apiVersions'), 'API versions');
  for (const [index, version] of listAt(value, 'apiVersions').entries()) {
    if (isMissing(version)) {
      report.required(`${path}.apiVersions[${index}]`);
    }
  }
  checkResources(report, field(value, path, 'resources'));
  checkOneOf(report, field(value, path, 'scope'), ['*', 'Cluster', 'Namespaced']);
}

/** A list that must not be empty, and in which a star stands alone. */
function checkStar(report: Report, { path, value }: Place, what: string): void {
  const items = listAt({ value }, 'value');
  if (items.length === 0) {
    report.required(path);
  } else if (items.length > 1 && items.includes('*')) {
    report.invalid(path, items, `if '*' is present, must not specify other ${what}`);
  }
}

function checkResources(report: Report, { path, value }: Place): void {
  const resources = listAt({ value }, 'value').map(String);
  if (resources.length === 0) {
    report.required(path);
  }
  for (const [index, resource] of resources.entries()) {
    checkCovered(report, { path: `${path}[${index}]`, value: resource }, resources);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    report.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && resources.some((resource) => resource !== '*' && !resource.includes('/'))) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    report.invalid(path, resources, detail);
  }
}

// A rule for all parts of pods leaves nothing for one about their status to say.
function checkCovered(report: Report, { path, value }: Place, resources: readonly string[]): void {
  const [name = '', part] = String(value).split('/');
  if (isMissing(value)) {
    report.required(path);
  }
  if (part === undefined || name === '*' || part === '*') {
    return;
  }
  for (const wider of [`${name}/*`, `*/${part}`].filter((resource) => resources.includes(resource))) {
    report.invalid(path, value, `if '${wider}' is present, must not specify ${String(value)}`);
  }
}

function checkClientConfig(report: Report, { path, value }: Place): void {
  const url = at(value, 'url');
  const service = at(value, 'service');
  if ((url === undefined) === (service === undefined)) {
    report.required(path, 'exactly one of url or service is required');
  } else if (url !== undefined) {
    checkUrl(report, { path: `${path}.url`, value: url });
  } else {
    checkService(report, { path: `${path}.service`, value: service });
  }
}

function checkUrl(report: Report, { path, value }: Place): void {
  const form = '; desired format: https://host[/path]';
  const url = URL.parse(String(value));
  if (url === null) {
    report.required(path, `url must be a valid URL: parse ${JSON.stringify(value)}: missing protocol scheme${form}`);
    return;
  }
  if (url.protocol !== 'https:') {
    report.invalid(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`);
  }
  const credentials = [url.username, url.password].filter((part) => part !== '').join(':');
  for (const [part, what] of [
    [credentials, 'user information is'],
    [url.hash.slice(1), 'fragments are'],
    [url.search.slice(1), 'query parameters are'],
  ] as const) {
    if (part !== '') {
      report.invalid(path, part, `${what} not permitted in the URL`);
    }
  }
}

function checkService(report: Report, { path, value }: Place): void {
  for (const name of ['name', 'namespace']) {
    if (isMissing(at(value, name))) {
      report.required(`${path}.${name}`);
    }
  }
  checkPort(report, field(value, path, 'port'), 'port is not valid: ');
  const urlPath = at(value, 'path');
  if (typeof urlPath !== 'string') {
    return;
  }
  if (!urlPath.startsWith('/')) {
    report.invalid(`${path}.path`, urlPath, "must start with a '/'");
  }
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '' && urlPath !== '/') {
      report.invalid(`${path}.path`, urlPath, `segment[${index}] may not be empty`);
    }
  }
}

function checkConditions(report: Report, { path, value }: Place): void {
  const seen = new Set<unknown>();
  for (const [index, condition] of listAt({ value }, 'value').entries()) {
    const name = field(condition, `${path}[${index}]`, 'name');
    checkExpression(report, field(condition, `${path}[${index}]`, 'expression'));
    checkRequiredName(report, name, qualifiedName);
    if (seen.has(name.value)) {
      report.duplicate(name.path, name.value);
    }
    seen.add(name.value);
  }
}

function checkExpression(report: Report, { path, value }: Place): void {
  if (isMissing(value) || String(value).trim() === '') {
    report.required(path);
    return;
  }
  const problem = matchConditionProblem(String(value));
  if (problem !== undefined) {
    report.invalid(path, value, problem);
  }
}
