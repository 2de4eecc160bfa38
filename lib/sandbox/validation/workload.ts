import { matchesLabelSelector } from '../../kube/model/selector.ts';
import { isRecord } from '../../base/json.ts';
import { at, isEqual, type Json, objectAt } from '../schema/value.ts';
import { checkCountOrPercent, checkNotNegative, checkOneOf, field, isMissing, type Place } from '../checks/fields.ts';
import { checkPodSpec, checkPodTemplate } from './pod.ts';
import type { Report } from '../checks/report.ts';
import { checkSelector, isEmptySelector } from './selector.ts';

const policyKinds = ['Recreate', 'RollingUpdate'];

export function checkPod(report: Report, object: Json): void {
  checkPodSpec(report, field(object, '', 'spec'));
}

export function checkDeployment(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  checkNotNegative(report, field(value, path, 'replicas'));
  checkWorkload(report, { path, value }, 'deployment');
  checkDeploymentStrategy(report, field(value, path, 'strategy'));
  checkNotNegative(report, field(value, path, 'minReadySeconds'));
  checkNotNegative(report, field(value, path, 'revisionHistoryLimit'));
  const { progressDeadlineSeconds = Infinity, minReadySeconds = 0 } = objectAt(object, 'spec');
  if (Number(progressDeadlineSeconds) <= Number(minReadySeconds)) {
    report.invalid(`${path}.progressDeadlineSeconds`, progressDeadlineSeconds, 'must be greater than minReadySeconds');
  }
}

function checkDeploymentStrategy(report: Report, { path, value }: Place): void {
  const { type, rollingUpdate } = isRecord(value) ? value : {};
  if (!policyKinds.includes(String(type))) {
    report.unsupported(path, { Type: type, RollingUpdate: null }, policyKinds);
    return;
  }
  if (type === 'Recreate' && rollingUpdate !== undefined) {
    report.forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  const surge = field(rollingUpdate, `${path}.rollingUpdate`, 'maxSurge');
  const unavailable = field(rollingUpdate, `${path}.rollingUpdate`, 'maxUnavailable');
  checkCountOrPercent(report, unavailable, { capped: true });
  checkCountOrPercent(report, surge);
  if (isZero(surge.value) && isZero(unavailable.value)) {
    report.invalid(unavailable.path, unavailable.value, 'may not be 0 when `maxSurge` is 0');
  }
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0%';
}

export function checkReplicaSet(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  checkNotNegative(report, field(value, path, 'replicas'));
  checkNotNegative(report, field(value, path, 'minReadySeconds'));
  checkWorkload(report, { path, value }, 'deployment');
}

export function checkStatefulSet(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  const policy = field(value, path, 'podManagementPolicy');
  if (!['OrderedReady', 'Parallel'].includes(String(policy.value))) {
    report.invalid(policy.path, policy.value, "must be 'OrderedReady' or 'Parallel'");
  }
  const strategy = field(value, path, 'updateStrategy');
  const type = at(strategy.value, 'type');
  if (!['RollingUpdate', 'OnDelete'].includes(String(type))) {
    report.invalid(strategy.path, { Type: type, RollingUpdate: null }, "must be 'RollingUpdate' or 'OnDelete'");
  }
  checkNotNegative(report, field(value, path, 'replicas'));
  checkWorkload(report, { path, value }, 'statefulset');
}

export function checkDaemonSet(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  checkWorkload(report, { path, value }, 'daemonset');
  const strategy = field(value, path, 'updateStrategy');
  const type = at(strategy.value, 'type');
  if (!['RollingUpdate', 'OnDelete'].includes(String(type))) {
    report.unsupported(strategy.path, { Type: type, RollingUpdate: null }, ['RollingUpdate', 'OnDelete']);
  }
}

/** Selector, template, and that the one selects the other. */
function checkWorkload(report: Report, { path, value }: Place, kind: string): void {
  const selector = field(value, path, 'selector');
  const isValid = checkWorkloadSelector(report, selector, kind);
  const labels = at(value, 'template', 'metadata', 'labels');
  if (isValid && !matches(selector.value, labels)) {
    report.invalid(`${path}.template.metadata.labels`, labels, '`selector` does not match template `labels`');
  }
  const template = field(value, path, 'template');
  checkPodTemplate(report, template);
  const restartPolicy = field(at(template.value, 'spec'), `${template.path}.spec`, 'restartPolicy');
  if (['OnFailure', 'Never'].includes(String(restartPolicy.value))) {
    checkOneOf(report, restartPolicy, ['Always']);
  }
  if (!isMissing(at(template.value, 'spec', 'activeDeadlineSeconds'))) {
    const detail = 'activeDeadlineSeconds in ReplicaSet is not Supported';
    report.forbidden(`${template.path}.spec.activeDeadlineSeconds`, detail);
  }
}

function checkWorkloadSelector(report: Report, selector: Place, kind: string): boolean {
  if (!isRecord(selector.value)) {
    if (kind !== 'daemonset') {
      report.required(selector.path);
    }
    return true;
  }
  const isValid = checkSelector(report, selector);
  if (!isValid) {
    report.invalid(selector.path, selector.value, 'invalid label selector');
    return false;
  }
  if (isEmptySelector(selector.value)) {
    report.invalid(selector.path, selector.value, `empty selector is invalid for ${kind}`);
    return false;
  }
  return true;
}

function matches(selector: unknown, labels: unknown): boolean {
  const given = isRecord(labels) ? (labels as Record<string, string>) : {};
  return isRecord(selector) && matchesLabelSelector(selector, given);
}

/** A selector decides which pods belong to a workload, so it never changes. */
export function checkSelectorUnchanged(report: Report, object: Json, old: Json): void {
  const selector = at(object, 'spec', 'selector');
  if (!isEqual(selector, at(old, 'spec', 'selector'))) {
    report.invalid('spec.selector', selector, 'field is immutable');
  }
}
