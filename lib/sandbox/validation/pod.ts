import { isRecord } from '../../base/json.ts';
import { listAt } from '../schema/value.ts';
import { checkContainer } from './container.ts';
import {
  checkLabels,
  checkName,
  checkOneOf,
  checkRequiredName,
  checkUnique,
  field,
  isMissing,
  type Place,
} from '../checks/fields.ts';
import { checkAnnotations } from './metadata.ts';
import { label, qualifiedName, subdomain } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

export function checkPodTemplate(report: Report, { path, value }: Place): void {
  const { labels, annotations } = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  checkLabels(report, { path: `${path}.labels`, value: labels });
  checkAnnotations(report, isRecord(annotations) ? (annotations as Record<string, string>) : {}, `${path}.annotations`);
  checkPodSpec(report, field(value, path, 'spec'));
}

export function checkPodSpec(report: Report, { path, value }: Place): void {
  const volumes = checkVolumes(report, field(value, path, 'volumes'));
  const containers = places(value, path, 'containers');
  if (containers.length === 0) {
    report.required(`${path}.containers`);
  }
  const inits = places(value, path, 'initContainers');
  for (const container of [...containers, ...inits]) {
    checkContainer(report, container, volumes);
  }
  checkUnique(
    report,
    [...containers, ...inits].map((container) => named(container)),
  );
  checkOneOf(report, field(value, path, 'restartPolicy'), ['Always', 'OnFailure', 'Never']);
  checkOneOf(report, field(value, path, 'dnsPolicy'), dnsPolicies);
  checkLabels(report, field(value, path, 'nodeSelector'));
  checkName(report, field(value, path, 'serviceAccountName'), subdomain);
  checkName(report, field(value, path, 'hostname'), label);
  checkTolerations(report, places(value, path, 'tolerations'));
  checkNodeAffinity(report, field(field(value, path, 'affinity').value, `${path}.affinity`, 'nodeAffinity'));
}

function places(value: unknown, path: string, name: string): readonly Place[] {
  return listAt(value, name).map((item, index) => ({ path: `${path}.${name}[${index}]`, value: item }));
}

/** The name of a container, where a missing one counts as an empty one. */
function named({ path, value }: Place): Place {
  const name = field(value, path, 'name');
  return { ...name, value: name.value ?? '' };
}

function checkVolumes(report: Report, { path, value }: Place): ReadonlySet<unknown> {
  const volumes = listAt({ value }, 'value').map((item, index) => ({ path: `${path}[${index}]`, value: item }));
  for (const volume of volumes) {
    checkRequiredName(report, field(volume.value, volume.path, 'name'), label);
    const [, ...others] = Object.keys(isRecord(volume.value) ? volume.value : {}).filter((name) => name !== 'name');
    for (const source of others) {
      report.forbidden(`${volume.path}.${source}`, 'may not specify more than 1 volume type');
    }
  }
  const names = volumes.map((volume) => field(volume.value, volume.path, 'name'));
  checkUnique(report, names);
  return new Set(names.map((name) => name.value));
}

function checkTolerations(report: Report, tolerations: readonly Place[]): void {
  for (const { path, value } of tolerations) {
    const { key, operator = 'Equal', value: text, effect } = isRecord(value) ? value : {};
    if (!isMissing(key)) {
      checkName(report, { path: `${path}.key`, value: key }, qualifiedName);
    } else if (operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      report.invalid(`${path}.operator`, operator, detail);
    }
    if (operator === 'Exists' && !isMissing(text)) {
      report.invalid(`${path}.operator`, text, "value must be empty when `operator` is 'Exists'");
    }
    checkOneOf(report, { path: `${path}.operator`, value: operator }, ['Equal', 'Exists']);
    checkEffect(report, { path: `${path}.effect`, value: effect });
  }
}

function checkEffect(report: Report, { path, value }: Place): void {
  if (!isMissing(value)) {
    checkOneOf(report, { path, value }, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']);
  }
}

function checkNodeAffinity(report: Report, { path, value }: Place): void {
  const required = field(value, path, 'requiredDuringSchedulingIgnoredDuringExecution');
  if (isRecord(required.value)) {
    const terms = places(required.value, required.path, 'nodeSelectorTerms');
    if (terms.length === 0) {
      report.required(`${required.path}.nodeSelectorTerms`, 'must have at least one node selector term');
    }
    for (const term of terms) {
      checkTerm(report, term);
    }
  }
  for (const preferred of places(value, path, 'preferredDuringSchedulingIgnoredDuringExecution')) {
    const weight = field(preferred.value, preferred.path, 'weight');
    if (typeof weight.value !== 'number' || weight.value < 1 || weight.value > 100) {
      report.invalid(weight.path, weight.value ?? 0, 'must be in the range 1-100');
    }
    checkTerm(report, field(preferred.value, preferred.path, 'preference'));
  }
}

function checkTerm(report: Report, { path, value }: Place): void {
  for (const { path: at, value: expression } of places(value, path, 'matchExpressions')) {
    const { operator } = isRecord(expression) ? expression : {};
    const count = listAt(expression, 'values').length;
    if (!nodeOperators.includes(String(operator))) {
      report.invalid(`${at}.operator`, operator, 'not a valid selector operator');
    } else if ((operator === 'In' || operator === 'NotIn') && count === 0) {
      report.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if ((operator === 'Gt' || operator === 'Lt') && count !== 1) {
      report.required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
    checkName(report, field(expression, at, 'key'), qualifiedName);
  }
}
