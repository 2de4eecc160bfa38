import type { V1Job } from '@kubernetes/client-node';
import type { DaemonSet } from '../../kube/model/resource.ts';
import type { KubeObject, Wire } from '../../kube/model/wire.ts';
import { type Kind, resourceName } from '../model/kinds.ts';

type Job = Wire<V1Job>;

const templateGeneration = 'deprecated.daemonset.template.generation';

/** What the API server writes on new Jobs and DaemonSets so that their pods can be distinguished. */
export function withMarks(kind: Kind, object: KubeObject): KubeObject {
  switch (resourceName(kind)) {
    case 'jobs.batch':
      return withSelector(object);
    case 'daemonsets.apps':
      return withTemplateGeneration(object);
    default:
      return object;
  }
}

/** A Job selects its pods by its own uid, unless it wants to choose itself. */
function withSelector(job: Job): Job {
  const { metadata, spec } = job;
  if (spec === undefined || spec.manualSelector === true || spec.selector !== undefined) {
    return job;
  }
  const { uid = '', name = '' } = metadata ?? {};
  const marks = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const { template } = spec;
  const labels = { ...template.metadata?.labels, ...marks };
  return {
    ...job,
    metadata: { ...metadata, labels: metadata?.labels ?? labels },
    spec: {
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function withTemplateGeneration(set: DaemonSet): DaemonSet {
  const { metadata } = set;
  const annotations = { ...metadata?.annotations, [templateGeneration]: '1' };
  return { ...set, metadata: { ...metadata, annotations } };
}
