import { isRecord } from '../../base/json.ts';
import { type NameRule, labelValue, percent, qualifiedName } from './names.ts';
import type { Report } from './report.ts';

/** One place of an object under examination. */
export interface Place {
  readonly path: string;
  readonly value: unknown;
}

/** A field of an object: `spec` → `spec.replicas`. */
export function field(object: unknown, path: string, name: string): Place {
  return { path: path === '' ? name : `${path}.${name}`, value: isRecord(object) ? object[name] : undefined };
}

export function checkName(report: Report, { path, value }: Place, rule: NameRule): void {
  if (typeof value === 'string') {
    for (const problem of rule(value)) {
      report.invalid(path, value, problem);
    }
  }
}

/** A name that must be there. */
export function checkRequiredName(report: Report, place: Place, rule: NameRule): void {
  if (isMissing(place.value)) {
    report.required(place.path);
  } else {
    checkName(report, place, rule);
  }
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

export function checkNotNegative(report: Report, { path, value }: Place): void {
  if (typeof value === 'number' && value < 0) {
    report.invalid(path, value, 'must be greater than or equal to 0');
  }
}

export function checkOneOf(report: Report, { path, value }: Place, supported: readonly string[]): void {
  if (value !== undefined && !supported.some((one) => one === value)) {
    report.unsupported(path, value, supported);
  }
}

export function checkPort(report: Report, { path, value }: Place, detail = ''): void {
  if (typeof value === 'number' && (value < 1 || value > 65_535)) {
    report.invalid(path, value, `${detail}must be between 1 and 65535, inclusive`);
  }
}

/** A count or a share: `2`, `25%`. */
export function checkCountOrPercent(report: Report, { path, value }: Place, { capped = false } = {}): void {
  if (typeof value === 'number') {
    checkNotNegative(report, { path, value });
  } else if (typeof value === 'string') {
    checkName(report, { path, value }, percent);
    if (capped && Number.parseInt(value, 10) > 100) {
      report.invalid(path, value, 'must not be greater than 100%');
    }
  }
}

export function checkLabels(report: Report, { path, value }: Place): void {
  for (const [key, text] of Object.entries(isRecord(value) ? value : {})) {
    checkName(report, { path, value: key }, qualifiedName);
    checkName(report, { path, value: text }, labelValue);
  }
}

/** What stands twice in a list, by a field of its items. */
export function checkUnique(report: Report, places: readonly Place[]): void {
  const seen = new Set<unknown>();
  for (const { path, value } of places) {
    if (seen.has(value)) {
      report.duplicate(path, value);
    }
    seen.add(value);
  }
}
