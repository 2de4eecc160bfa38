import type {
  V1ControllerRevision,
  V1Job,
  V1PersistentVolumeClaim,
  V1PodDisruptionBudget,
} from '@kubernetes/client-node';
import type { Wire } from '../../kube/model/wire.ts';
import type { KindRef } from '../model/internal.ts';

export type ControllerRevision = Wire<V1ControllerRevision>;
export type Job = Wire<V1Job>;
export type PersistentVolumeClaim = Wire<V1PersistentVolumeClaim>;
export type PodDisruptionBudget = Wire<V1PodDisruptionBudget>;

export const pods: KindRef = { group: '', plural: 'pods' };
export const nodes: KindRef = { group: '', plural: 'nodes' };
export const claims: KindRef = { group: '', plural: 'persistentvolumeclaims' };
export const deployments: KindRef = { group: 'apps', plural: 'deployments' };
export const replicaSets: KindRef = { group: 'apps', plural: 'replicasets' };
export const statefulSets: KindRef = { group: 'apps', plural: 'statefulsets' };
export const daemonSets: KindRef = { group: 'apps', plural: 'daemonsets' };
export const controllerRevisions: KindRef = { group: 'apps', plural: 'controllerrevisions' };
export const jobs: KindRef = { group: 'batch', plural: 'jobs' };
export const disruptionBudgets: KindRef = { group: 'policy', plural: 'poddisruptionbudgets' };
