import type { Pod } from '../../../lib/kube/model/resource.ts';
import type { OwnerReference } from '../../../lib/kube/model/wire.ts';
import type { AdmissionRequest } from '../../../lib/kube/model/review.ts';

/** A pod that a workload would create now. */
export interface Question {
  readonly namespace: string;
  /** The direct owner of the pod: for a Deployment its ReplicaSet. */
  readonly owner: OwnerReference;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: NonNullable<Pod['spec']>;
}

type Container = Question['spec']['containers'][number];

/**
 * The pod as its controller would send it. Fields that Go always writes are there even if empty: the patch that comes back
 * is relative to istiod's own copy, and one that adds below `resources` fails where there is none.
 */
export function podOf({ namespace, owner, labels, annotations, spec }: Question): Pod {
  const { name, apiVersion, kind, uid } = owner;
  const metadata = {
    namespace,
    generateName: `${name}-`,
    creationTimestamp: null,
    labels,
    annotations,
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata as unknown as NonNullable<Pod['metadata']>, // the wire has null where the type has no date
    spec: {
      ...spec,
      containers: spec.containers.map(withResources),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withResources) }),
    },
    status: {},
  };
}

function withResources(container: Container): Container {
  return { ...container, resources: container.resources ?? {} };
}

const podKind = { group: '', version: 'v1', kind: 'Pod' };
const podResource = { group: '', version: 'v1', resource: 'pods' };

/** What the API server asks a webhook before it creates the pod. */
export function requestOf(pod: Pod, uid: string): AdmissionRequest {
  return {
    uid,
    kind: podKind,
    resource: podResource,
    requestKind: podKind,
    requestResource: podResource,
    namespace: pod.metadata?.namespace ?? '',
    operation: 'CREATE',
    userInfo: {},
    object: pod,
    oldObject: null,
    dryRun: true,
    options: null,
  };
}
