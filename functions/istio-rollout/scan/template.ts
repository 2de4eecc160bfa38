import { apiVersion } from '../../../lib/kube/model/resource.ts';
import type { OwnerReference } from '../../../lib/kube/model/wire.ts';
import type { Question } from '../probe/question.ts';
import type { Staffed } from './join.ts';
import { resources } from './kinds.ts';
import type { Workload } from './workload.ts';

/** The pod that a workload would create now. */
export function questionOf({ workload, current, link }: Staffed): Question {
  const { namespace, template } = workload;
  const [sample] = current;
  return {
    namespace,
    owner:
      link === undefined
        ? ownerOf(workload)
        : { apiVersion: 'apps/v1', kind: link.kind, name: link.name, uid: link.uid },
    labels: {
      ...template.labels,
      ...(link?.hash !== undefined && link.kind === 'ReplicaSet' && { [hashLabelOf(workload)]: link.hash }),
      ...(sample?.revisionHash !== undefined && { 'controller-revision-hash': sample.revisionHash }),
      ...(sample?.templateGeneration !== undefined && { 'pod-template-generation': sample.templateGeneration }),
    },
    annotations: template.annotations,
    spec: template.spec,
  };
}

function hashLabelOf({ kind }: Workload): string {
  return kind === 'Rollout' ? 'rollouts-pod-template-hash' : 'pod-template-hash';
}

function ownerOf({ kind, name, uid }: Workload): OwnerReference {
  return { apiVersion: apiVersion(resources[kind]), kind, name, uid, controller: true };
}
