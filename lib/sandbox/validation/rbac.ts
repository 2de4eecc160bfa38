import { at, isEqual, type Json, listAt } from '../schema/value.ts';
import { checkOneOf, field, isMissing, type Place } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';

const group = 'rbac.authorization.k8s.io';

export function checkRole(report: Report, object: Json): void {
  checkRules(report, object, true);
}

export function checkClusterRole(report: Report, object: Json): void {
  checkRules(report, object, false);
}

function checkRules(report: Report, object: Json, isNamespaced: boolean): void {
  for (const [index, rule] of listAt(object, 'rules').entries()) {
    checkRule(report, { path: `rules[${index}]`, value: rule }, isNamespaced);
  }
}

function checkRule(report: Report, { path, value }: Place, isNamespaced: boolean): void {
  const urls = listAt(value, 'nonResourceURLs');
  const [apiGroups, resources] = [listAt(value, 'apiGroups'), listAt(value, 'resources')];
  if (listAt(value, 'verbs').length === 0) {
    report.required(`${path}.verbs`, 'verbs must contain at least one value');
  }
  if (urls.length > 0) {
    checkUrls(
      report,
      { path: `${path}.nonResourceURLs`, value: urls },
      { isNamespaced, hasResources: apiGroups.length + resources.length > 0 },
    );
    return;
  }
  if (apiGroups.length === 0) {
    report.required(`${path}.apiGroups`, 'resource rules must supply at least one api group');
  }
  if (resources.length === 0) {
    report.required(`${path}.resources`, 'resource rules must supply at least one resource');
  }
}

function checkUrls(
  report: Report,
  { path, value }: Place,
  rule: { isNamespaced: boolean; hasResources: boolean },
): void {
  if (rule.isNamespaced) {
    report.invalid(path, value, 'namespaced rules cannot apply to non-resource URLs');
  }
  if (rule.hasResources) {
    report.invalid(path, value, 'rules cannot apply to both regular resources and non-resource URLs');
  }
}

export function checkRoleBinding(report: Report, object: Json): void {
  checkBinding(report, object, ['Role', 'ClusterRole']);
}

export function checkClusterRoleBinding(report: Report, object: Json): void {
  checkBinding(report, object, ['ClusterRole']);
}

function checkBinding(report: Report, object: Json, kinds: readonly string[]): void {
  const { path, value } = field(object, '', 'roleRef');
  checkOneOf(report, field(value, path, 'apiGroup'), [group]);
  checkOneOf(report, { path: `${path}.kind`, value: at(value, 'kind') ?? '' }, kinds);
  if (isMissing(at(value, 'name'))) {
    report.required('roleRef.name');
  }
  for (const [index, subject] of listAt(object, 'subjects').entries()) {
    checkSubject(report, { path: `subjects[${index}]`, value: subject });
  }
}

function checkSubject(report: Report, { path, value }: Place): void {
  const kind = field(value, path, 'kind');
  if (isMissing(at(value, 'name'))) {
    report.required(`${path}.name`);
  }
  checkOneOf(report, kind, ['ServiceAccount', 'User', 'Group']);
  if (kind.value === 'User' || kind.value === 'Group') {
    checkOneOf(report, field(value, path, 'apiGroup'), [group]);
  }
}

export function checkRoleRefUnchanged(report: Report, object: Json, old: Json): void {
  if (!isEqual(object['roleRef'], old['roleRef'])) {
    const { path, value } = field(object, '', 'roleRef');
    const shown = { APIGroup: at(value, 'apiGroup'), Kind: at(value, 'kind'), Name: at(value, 'name') };
    report.invalid(path, shown, 'cannot change roleRef');
  }
}
