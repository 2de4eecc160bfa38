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
  const url = URL.parse(String(value));
  if (url?.protocol !== 'https:') {
    report.invalid(path, value, "'https' is the only allowed URL scheme; desired format: https://host[/path]");
  }
}

function checkService(report: Report, { path, value }: Place): void {
  for (const name of ['name', 'namespace']) {
    if (isMissing(at(value, name))) {
      report.required(`${path}.${name}`);
    }
  }
  checkPort(report, field(value, path, 'port'), 'port is not valid: ');
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
