import { clusterName, labelsOf } from '../../lib/function/names.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';

/** What the account may change, and which account it is. */
export interface Confinement {
  /** The namespace of the installation. */
  readonly namespace: string;
  /** The annotation of a template that makes its workload restart. */
  readonly restartAnnotation: string;
  /** Annotations of the workload itself that hold our bookkeeping. */
  readonly bookkeeping: readonly string[];
  /** It asks the API server what would be injected, which takes the right to create pods. */
  readonly rehearsesPods: boolean;
}

const name = 'istio-rollout';
const api = 'admissionregistration.k8s.io/v1';

/** The API server raises this annotation of a DaemonSet by itself whenever its template changes. */
const templateGeneration = 'deprecated.daemonset.template.generation';

/**
 * RBAC can say which kinds an account may patch, but not which fields. This policy adds that: whatever the function or a
 * thief of its token sends, the API server lets it restart workloads and nothing else. A pod that it may create for
 * a question, with any image and account, it may not keep.
 */
export function confinement(given: Confinement): readonly Manifest[] {
  return [
    ...bound(clusterName(name), { ...attentionTo(given, updates), ...restartsAlone(given) }),
    ...(given.rehearsesPods
      ? bound(`${clusterName(name)}-pods`, { ...attentionTo(given, [podCreation]), ...rehearsalsAlone })
      : []),
  ];
}

/** A policy, and that it holds everywhere. */
function bound(policyName: string, spec: object): readonly Manifest[] {
  const metadata = { name: policyName, labels: labelsOf(name, 'events') };
  const binding = { policyName, validationActions: ['Deny'] };
  return [
    { apiVersion: api, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    { apiVersion: api, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ];
}

const updates = [
  writesOf('UPDATE', 'apps', ['deployments', 'statefulsets', 'daemonsets']),
  writesOf('UPDATE', 'argoproj.io', ['rollouts']),
];
const podCreation = writesOf('CREATE', '', ['pods']);

function writesOf(operation: 'CREATE' | 'UPDATE', group: string, resources: readonly string[]): object {
  return { apiGroups: [group], apiVersions: ['*'], operations: [operation], resources };
}

function attentionTo({ namespace }: Confinement, resourceRules: readonly object[]): object {
  const account = `system:serviceaccount:${namespace}:${name}`;
  return {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules },
    matchConditions: [{ name: 'its-account', expression: `request.userInfo.username == ${literal(account)}` }],
  };
}

function restartsAlone(given: Confinement): object {
  return { variables: variablesOf(given), validations: validationsOf(given) };
}

const rehearsalsAlone = {
  validations: [validation('has(request.dryRun) && request.dryRun', 'it may create pods in a dry run alone')],
};

/** Of a Rollout only `restartAt` is ours, of the others the annotation in the template. */
function variablesOf({ restartAnnotation, bookkeeping }: Confinement): object[] {
  return Object.entries({
    isRollout: `request.resource.group == 'argoproj.io'`,
    restart: literal(restartAnnotation),
    ownAnnotations: literal([...bookkeeping, templateGeneration]),
    oldAnnotations: annotationsOf('oldObject.metadata'),
    newAnnotations: annotationsOf('object.metadata'),
    oldTemplate: `variables.isRollout ? {} : ${annotationsOf('oldObject.spec.template.metadata')}`,
    newTemplate: `variables.isRollout ? {} : ${annotationsOf('object.spec.template.metadata')}`,
  }).map(([variable, expression]) => ({ name: variable, expression }));
}

function validationsOf({ restartAnnotation, bookkeeping }: Confinement): object[] {
  return [
    validation(
      sameEntries('dyn(oldObject.spec)', 'dyn(object.spec)', `[variables.isRollout ? 'restartAt' : 'template']`),
      'of a spec it may change the template alone, of an Argo Rollout restartAt alone',
    ),
    validation(
      `variables.isRollout || (${same('spec.template.spec')} && ${sameEntries(
        'dyn(oldObject.spec.template.metadata)',
        'dyn(object.spec.template.metadata)',
        `['annotations']`,
      )})`,
      'of a template it may change annotations alone',
    ),
    validation(
      sameEntries('variables.oldTemplate', 'variables.newTemplate', '[variables.restart]'),
      `of a template it may change the annotation ${restartAnnotation} alone`,
    ),
    validation(
      `!(variables.restart in variables.newTemplate) || ` +
        `variables.newTemplate[variables.restart].matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$')`,
      `${restartAnnotation} must be a time in UTC`,
    ),
    validation(
      sameEntries('variables.oldAnnotations', 'variables.newAnnotations', 'variables.ownAnnotations'),
      `of a workload it may change the annotations ${bookkeeping.join(', ')} alone`,
    ),
    validation(
      ['labels', 'finalizers', 'ownerReferences'].map((field) => same(`metadata.${field}`)).join(' && '),
      'it may not change labels, finalizers or owners',
    ),
  ];
}

function validation(expression: string, message: string): object {
  return { expression, message: `${name} is confined: ${message}`, reason: 'Forbidden' };
}

/** Annotations as a map, empty where there are none. */
function annotationsOf(metadata: string): string {
  return `has(${metadata}.annotations) ? ${metadata}.annotations : {}`;
}

/** A field that is absent on both sides or equal on both. */
function same(field: string): string {
  const [old, now] = [`oldObject.${field}`, `object.${field}`];
  return `(has(${old}) ? has(${now}) && ${now} == ${old} : !has(${now}))`;
}

/** All entries of two maps, the excepted ones aside. Fields that a later Kubernetes adds to a spec are among them. */
function sameEntries(old: string, now: string, except: string): string {
  return (
    `${now}.all(key, key in ${except} || (key in ${old} && ${now}[key] == ${old}[key])) && ` +
    `${old}.all(key, key in ${except} || key in ${now})`
  );
}

/** CEL reads strings and lists as JSON writes them. */
function literal(value: string | readonly string[]): string {
  return JSON.stringify(value);
}
