import { at, isEqual, type Json, stringAt } from '../schema/value.ts';
import { checkNotNegative, checkOneOf, field, isMissing, type Place } from '../checks/fields.ts';
import { checkPodTemplate } from './pod.ts';
import type { Report } from '../checks/report.ts';

const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];

export function checkJob(report: Report, object: Json): void {
  checkJobSpec(report, field(object, '', 'spec'));
}

function checkJobSpec(report: Report, { path, value }: Place): void {
  for (const name of counts) {
    checkNotNegative(report, field(value, path, name));
  }
  const template = field(value, path, 'template');
  checkPodTemplate(report, template);
  if (at(template.value, 'spec', 'restartPolicy') === 'Always') {
    report.required(`${template.path}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"');
  }
}

/** A Job's pods are decided when it is created. */
export function checkJobUpdate(report: Report, object: Json, old: Json): void {
  for (const name of ['completions', 'selector', 'template', 'completionMode', 'podFailurePolicy']) {
    const now = at(object, 'spec', name);
    const isSuspended = name === 'template' && at(old, 'spec', 'suspend') === true;
    if (!isSuspended && !isEqual(now, at(old, 'spec', name))) {
      report.invalid(`spec.${name}`, now, 'field is immutable');
    }
  }
}

export function checkCronJob(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  checkSchedule(report, field(value, path, 'schedule'));
  checkTimeZone(report, field(value, path, 'timeZone'));
  checkNotNegative(report, field(value, path, 'startingDeadlineSeconds'));
  checkOneOf(report, field(value, path, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace']);
  const template = field(value, path, 'jobTemplate');
  checkJobSpec(report, field(template.value, template.path, 'spec'));
  checkNotNegative(report, field(value, path, 'successfulJobsHistoryLimit'));
  checkNotNegative(report, field(value, path, 'failedJobsHistoryLimit'));
}

const names = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

function checkSchedule(report: Report, { path, value }: Place): void {
  if (isMissing(value)) {
    report.required(path);
    return;
  }
  const text = String(value);
  if (text.includes('TZ')) {
    report.invalid(path, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
    return;
  }
  const fields = text.trim().split(/\s+/);
  if (!names.includes(text) && !text.startsWith('@every ') && fields.length !== 5) {
    report.invalid(path, text, `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
}

function checkTimeZone(report: Report, { path, value }: Place): void {
  if (typeof value === 'string' && !isTimeZone(value)) {
    report.invalid(path, value, `unknown time zone ${value}`);
  }
}

function isTimeZone(name: string): boolean {
  try {
    return (
      stringAt({ zone: new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone }, 'zone') !== ''
    );
  } catch {
    return false;
  }
}
