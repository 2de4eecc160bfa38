import { at, isEqual, type Json, listAt, objectAt } from '../schema/value.ts';
import { checkCountOrPercent, checkOneOf, field, isMissing } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';

export function checkDisruptionBudget(report: Report, object: Json): void {
  const { path, value } = field(object, '', 'spec');
  const minimum = field(value, path, 'minAvailable');
  const maximum = field(value, path, 'maxUnavailable');
  if (minimum.value !== undefined && maximum.value !== undefined) {
    const shown = {
      MinAvailable: minimum.value,
      Selector: at(value, 'selector') ?? null,
      MaxUnavailable: maximum.value,
      UnhealthyPodEvictionPolicy: at(value, 'unhealthyPodEvictionPolicy') ?? null,
    };
    report.invalid(path, shown, 'minAvailable and maxUnavailable cannot be both set');
  }
  checkCountOrPercent(report, minimum, { capped: true });
  checkCountOrPercent(report, maximum, { capped: true });
  checkOneOf(report, field(value, path, 'unhealthyPodEvictionPolicy'), ['AlwaysAllow', 'IfHealthyBudget']);
}

export function checkEvent(report: Report, object: Json): void {
  const namespace = at(object, 'metadata', 'namespace');
  const involved = at(object, 'involvedObject', 'namespace');
  if (!isMissing(involved) && namespace !== undefined && involved !== namespace) {
    report.invalid('involvedObject.namespace', involved, 'does not match event.namespace');
  }
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

export function checkClaim(report: Report, object: Json): void {
  const modes = listAt(object, 'spec', 'accessModes');
  if (modes.length === 0) {
    report.required('spec.accessModes', 'at least 1 access mode is required');
  }
  for (const mode of modes) {
    checkOneOf(report, { path: 'spec.accessModes', value: mode }, accessModes);
  }
  if (at(object, 'spec', 'resources', 'requests', 'storage') === undefined) {
    report.required('spec.resources[storage]');
  }
}

/** A check that fields, by their dotted paths, never change. */
export function unchanged(...paths: readonly string[]): (report: Report, object: Json, old: Json) => void {
  return (report, object, old) => {
    for (const path of paths) {
      const now = at(object, ...path.split('.'));
      if (!isEqual(now, at(old, ...path.split('.')))) {
        report.invalid(path, now, 'field is immutable');
      }
    }
  };
}

const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export function checkStatefulSetUpdate(report: Report, object: Json, old: Json): void {
  const names = new Set([...Object.keys(objectAt(object, 'spec')), ...Object.keys(objectAt(old, 'spec'))]);
  const changed = [...names].filter((name) => !isEqual(at(object, 'spec', name), at(old, 'spec', name)));
  if (changed.some((name) => !mutable.includes(name))) {
    const quoted = mutable.map((name) => `'${name}'`);
    const list = `${quoted.slice(0, -1).join(', ')} and ${quoted.slice(-1).join('')}`;
    report.forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`);
  }
}
