import {
  daemonSets,
  deployments,
  replicaSets,
  replicationControllers,
  statefulSets,
  type DaemonSet,
  type Deployment,
  type ReplicaSet,
  type ReplicationController,
  type Resource,
  type StatefulSet,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';

/** An Argo Rollout, as far as it matters here. */
export interface Rollout extends KubeObject {
  spec?: {
    replicas?: number;
    paused?: boolean;
    restartAt?: string;
    selector?: NonNullable<Deployment['spec']>['selector'];
    template?: NonNullable<Deployment['spec']>['template'];
  };
  status?: {
    phase?: string;
    restartedAt?: string;
    /** A number, as text. */
    observedGeneration?: string;
  };
}

export const rollouts: Resource<Rollout> = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  kind: 'Rollout',
  plural: 'rollouts',
  namespaced: true,
};

/** Metadata is all that is ever read of them. */
export const controllerRevisions: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
};

export interface ByKind {
  readonly Deployment: Deployment;
  readonly StatefulSet: StatefulSet;
  readonly DaemonSet: DaemonSet;
  readonly Rollout: Rollout;
  readonly ReplicaSet: ReplicaSet;
  readonly ReplicationController: ReplicationController;
}

/** Kinds that can be made to replace their pods. */
export type WorkloadKind = keyof ByKind;

export const resources: { readonly [Kind in WorkloadKind]: Resource<ByKind[Kind]> } = {
  Deployment: deployments,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  Rollout: rollouts,
  ReplicaSet: replicaSets,
  ReplicationController: replicationControllers,
};
