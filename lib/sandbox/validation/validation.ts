import type { KubeObject } from '../../kube/model/wire.ts';
import { checkDefinition } from '../definitions/definition.ts';
import type { Cause } from '../model/status.ts';
import type { Json } from '../schema/value.ts';
import { checkCronJob, checkJob, checkJobUpdate } from './batch.ts';
import { checkConfigMap, checkImmutable, checkSecret, checkSecretUpdate } from './config.ts';
import { checkMetadata } from './metadata.ts';
import { checkIngress, checkService, checkServiceUpdate } from './network.ts';
import { checkClaim, checkDisruptionBudget, checkEvent, checkStatefulSetUpdate, unchanged } from './other.ts';
import { checkPodUpdate } from './pod-update.ts';
import { checkRoleRefUnchanged } from './rbac.ts';
import { createReport, type Report } from '../checks/report.ts';
import { checkWebhooks } from './webhook.ts';
import {
  checkDaemonSet,
  checkDeployment,
  checkPod,
  checkReplicaSet,
  checkSelectorUnchanged,
  checkStatefulSet,
} from './workload.ts';

/** What the API server demands of objects of a kind, beyond their schema. */
interface KindRules {
  readonly check?: (report: Report, object: Json) => void;
  readonly checkUpdate?: (report: Report, object: Json, old: Json) => void;
}

const kindRules: Readonly<Record<string, KindRules>> = {
  '/ConfigMap': { check: checkConfigMap, checkUpdate: checkImmutable },
  '/Secret': { check: checkSecret, checkUpdate: checkSecretUpdate },
  '/Pod': { check: checkPod, checkUpdate: checkPodUpdate },
  '/Service': { check: checkService, checkUpdate: checkServiceUpdate },
  '/Event': { check: checkEvent },
  '/PersistentVolumeClaim': { check: checkClaim },
  'apps/Deployment': { check: checkDeployment, checkUpdate: checkSelectorUnchanged },
  'apps/ReplicaSet': { check: checkReplicaSet, checkUpdate: checkSelectorUnchanged },
  'apps/StatefulSet': { check: checkStatefulSet, checkUpdate: checkStatefulSetUpdate },
  'apps/DaemonSet': { check: checkDaemonSet, checkUpdate: checkSelectorUnchanged },
  'batch/Job': { check: checkJob, checkUpdate: checkJobUpdate },
  'batch/CronJob': { check: checkCronJob },
  'networking.k8s.io/Ingress': { check: checkIngress },
  'networking.k8s.io/IngressClass': { checkUpdate: unchanged('spec.controller') },
  'policy/PodDisruptionBudget': { check: checkDisruptionBudget },
  'rbac.authorization.k8s.io/RoleBinding': { checkUpdate: checkRoleRefUnchanged },
  'rbac.authorization.k8s.io/ClusterRoleBinding': { checkUpdate: checkRoleRefUnchanged },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': { check: checkWebhooks },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': { check: checkWebhooks },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    check: checkDefinition,
    checkUpdate: unchanged('spec.group', 'spec.scope', 'spec.names.plural', 'spec.names.kind'),
  },
  'scheduling.k8s.io/PriorityClass': { checkUpdate: unchanged('value', 'preemptionPolicy') },
};

export interface Validation {
  readonly kind: { readonly group: string; readonly kind: string };
  readonly object: KubeObject;
  /** The stored object that is to change; absent for a create. */
  readonly old?: KubeObject;
  readonly subresource?: string;
}

/** All that is wrong with an object after defaulting, in the API server's words. */
export function validate({ kind, object, old, subresource }: Validation): readonly Cause[] {
  const name = `${kind.group}/${kind.kind}`;
  const report = createReport();
  checkMetadata(report, object, name);
  if (subresource === undefined) {
    const rules = kindRules[name];
    rules?.check?.(report, object as Json);
    if (old !== undefined) {
      rules?.checkUpdate?.(report, object as Json, old as Json);
    }
  }
  return report.causes;
}
