import { at, isEqual, type Json, listAt, objectAt } from '../schema/value.ts';
import { checkCountOrPercent, checkNotNegative, checkOneOf, field, isMissing } from '../checks/fields.ts';
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

export function checkAutoscaler(report: Report, object: Json): void {
  const { minReplicas = 1, maxReplicas = 0, scaleTargetRef } = objectAt(object, 'spec');
  if (Number(maxReplicas) < 1) {
    report.required('spec.maxReplicas', 'must be set and greater than 0');
  }
  if (Number(maxReplicas) < Number(minReplicas)) {
    report.invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
  for (const name of ['kind', 'name']) {
    if (isMissing(at(scaleTargetRef, name))) {
      report.required(`spec.scaleTargetRef.${name}`);
    }
  }
  if (isMissing(at(scaleTargetRef, 'apiVersion'))) {
    report.invalid('spec.scaleTargetRef.apiVersion', '', 'apiVersion must specify API group');
  }
}

export function checkLease(report: Report, object: Json): void {
  const { leaseDurationSeconds } = objectAt(object, 'spec');
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    report.invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0');
  }
  checkNotNegative(report, field(object['spec'], 'spec', 'leaseTransitions'));
}

export function checkEvent(report: Report, object: Json): void {
  const namespace = at(object, 'metadata', 'namespace');
  const involved = at(object, 'involvedObject', 'namespace');
  if (!isMissing(involved) && namespace !== undefined && involved !== namespace) {
    report.invalid('involvedObject.namespace', involved, 'does not match event.namespace');
  }
}

export function checkStorageClass(report: Report, object: Json): void {
  if (isMissing(object['provisioner'])) {
    report.required('provisioner');
  }
  checkOneOf(report, field(object, '', 'reclaimPolicy'), ['Delete', 'Retain']);
  checkOneOf(report, field(object, '', 'volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']);
}

export function checkEndpointSlice(report: Report, object: Json): void {
  if (isMissing(object['addressType'])) {
    report.required('addressType');
  }
  checkOneOf(report, field(object, '', 'addressType'), ['FQDN', 'IPv4', 'IPv6']);
  for (const [index, endpoint] of listAt(object, 'endpoints').entries()) {
    if (listAt(endpoint, 'addresses').length === 0) {
      report.required(`endpoints[${index}].addresses`, 'must contain at least 1 address');
    }
  }
}

export function checkPriorityClass(report: Report, object: Json): void {
  checkOneOf(report, field(object, '', 'preemptionPolicy'), ['PreemptLowerPriority', 'Never']);
}

export function checkPriorityClassUpdate(report: Report, object: Json, old: Json): void {
  if (object['value'] !== old['value']) {
    report.forbidden('value', 'may not be changed in an update.');
  }
  unchanged('preemptionPolicy')(report, object, old);
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
