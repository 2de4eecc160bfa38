import type { KubeObject, Metadata, OwnerReference } from '../../kube/model/wire.ts';
import { checkLabels, checkName } from '../checks/fields.ts';
import { labelWithoutDots, type NameRule, pathSegment, qualifiedName, subdomain } from '../checks/names.ts';
import type { Report } from '../checks/report.ts';

const mostAnnotations = 256 * 1024;
const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes', 'kubernetes.io/pv-protection'];

/** Kinds whose names follow another rule than that of a DNS subdomain. */
const nameRules: Readonly<Record<string, NameRule>> = {
  '/Namespace': labelWithoutDots,
  '/Service': labelWithoutDots,
  'rbac.authorization.k8s.io/Role': pathSegment,
  'rbac.authorization.k8s.io/ClusterRole': pathSegment,
  'rbac.authorization.k8s.io/RoleBinding': pathSegment,
  'rbac.authorization.k8s.io/ClusterRoleBinding': pathSegment,
  'batch/CronJob': cronJobName,
};

/** CronJobs give their Jobs a suffix of eleven characters. */
function cronJobName(name: string): readonly string[] {
  return [...subdomain(name), ...(name.length > 52 ? ['must be no more than 52 characters'] : [])];
}

export function checkMetadata(report: Report, { metadata = {} }: KubeObject, kind: string): void {
  const rule = nameRules[kind] ?? subdomain;
  if (metadata.generateName !== undefined) {
    // The suffix makes a trailing hyphen or dot valid.
    const value = /[-.]$/.test(metadata.generateName) ? `${metadata.generateName}x` : metadata.generateName;
    for (const problem of rule(value)) {
      report.invalid('metadata.generateName', metadata.generateName, problem);
    }
  }
  if (metadata.name === '') {
    report.required('metadata.name', 'name or generateName is required');
  } else {
    checkName(report, { path: 'metadata.name', value: metadata.name }, rule);
  }
  checkLabels(report, { path: 'metadata.labels', value: metadata.labels });
  checkAnnotations(report, metadata.annotations);
  checkOwners(report, metadata.ownerReferences ?? []);
  checkFinalizers(report, metadata.finalizers ?? []);
}

export function checkAnnotations(
  report: Report,
  annotations: Metadata['annotations'],
  path = 'metadata.annotations',
): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const problem of qualifiedName(key.toLowerCase())) {
      report.invalid(path, key, problem);
    }
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > mostAnnotations) {
    report.tooLong(path, mostAnnotations);
  }
}

function checkOwners(report: Report, owners: readonly OwnerReference[]): void {
  const path = 'metadata.ownerReferences';
  for (const owner of owners) {
    checkOwner(report, owner, path);
  }
  const [first, second] = owners.filter(({ controller }) => controller === true);
  if (first !== undefined && second !== undefined) {
    const found = `Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    report.invalid(path, owners, `Only one reference can have Controller set to true. ${found}`);
  }
}

function checkOwner(report: Report, owner: OwnerReference, path: string): void {
  const parts = owner.apiVersion.split('/');
  if (owner.apiVersion === '' || parts.length > 2) {
    report.invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty');
  }
  for (const name of ['kind', 'name', 'uid'] as const) {
    if (owner[name] === '') {
      report.invalid(`${path}.${name}`, '', 'must not be empty');
    }
  }
  if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
    report.invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner');
  }
}

function checkFinalizers(report: Report, finalizers: readonly string[]): void {
  for (const [index, finalizer] of finalizers.entries()) {
    const problems = qualifiedName(finalizer);
    for (const problem of problems) {
      report.invalid('metadata.finalizers', finalizer, problem);
    }
    if (problems.length === 0 && !finalizer.includes('/') && !standardFinalizers.includes(finalizer)) {
      const detail = 'name is neither a standard finalizer name nor is it fully qualified';
      report.invalid(`metadata.finalizers[${index}]`, finalizer, detail);
    }
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    report.invalid('metadata.finalizers', finalizers, detail);
  }
}
