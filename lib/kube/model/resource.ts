import type {
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Ingress,
  V1IngressClass,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1Node,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1ReplicationController,
  V1Secret,
  V1SelfSubjectAccessReview,
  V1Service,
  V1StatefulSet,
  V1SubjectAccessReview,
  V1TokenReview,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import type { KubeObject, Wire } from './wire.ts';

/** A kind in the API. The type parameter is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: carries `T` for inference. */
  readonly object?: T;
}

export type ConfigMap = Wire<V1ConfigMap>;
export type ControllerRevision = Wire<V1ControllerRevision>;
export type CronJob = Wire<V1CronJob>;
export type CustomResourceDefinition = Wire<V1CustomResourceDefinition>;
export type DaemonSet = Wire<V1DaemonSet>;
export type Deployment = Wire<V1Deployment>;
export type EndpointSlice = Wire<V1EndpointSlice>;
export type Ingress = Wire<V1Ingress>;
export type IngressClass = Wire<V1IngressClass>;
export type MutatingWebhookConfiguration = Wire<V1MutatingWebhookConfiguration>;
export type Namespace = Wire<V1Namespace>;
export type Node = Wire<V1Node>;
export type Pod = Wire<V1Pod>;
export type PodDisruptionBudget = Wire<V1PodDisruptionBudget>;
export type ReplicaSet = Wire<V1ReplicaSet>;
export type ReplicationController = Wire<V1ReplicationController>;
export type Secret = Wire<V1Secret>;
export type SelfSubjectAccessReview = Wire<V1SelfSubjectAccessReview>;
export type Service = Wire<V1Service>;
export type StatefulSet = Wire<V1StatefulSet>;
export type SubjectAccessReview = Wire<V1SubjectAccessReview>;
export type TokenReview = Wire<V1TokenReview>;
export type ValidatingWebhookConfiguration = Wire<V1ValidatingWebhookConfiguration>;

export const configMaps = namespaced<ConfigMap>('', 'v1', 'ConfigMap', 'configmaps');
export const controllerRevisions = namespaced<ControllerRevision>(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
);
export const cronJobs = namespaced<CronJob>('batch', 'v1', 'CronJob', 'cronjobs');
export const daemonSets = namespaced<DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets');
export const deployments = namespaced<Deployment>('apps', 'v1', 'Deployment', 'deployments');
export const endpointSlices = namespaced<EndpointSlice>('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices');
export const events = namespaced('events.k8s.io', 'v1', 'Event', 'events');
export const ingresses = namespaced<Ingress>('networking.k8s.io', 'v1', 'Ingress', 'ingresses');
export const pods = namespaced<Pod>('', 'v1', 'Pod', 'pods');
export const podDisruptionBudgets = namespaced<PodDisruptionBudget>(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const replicationControllers = namespaced<ReplicationController>(
  '',
  'v1',
  'ReplicationController',
  'replicationcontrollers',
);
export const replicaSets = namespaced<ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets');
export const secrets = namespaced<Secret>('', 'v1', 'Secret', 'secrets');
export const services = namespaced<Service>('', 'v1', 'Service', 'services');
export const statefulSets = namespaced<StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets');
export const namespaces = clusterWide<Namespace>('', 'v1', 'Namespace', 'namespaces');
export const nodes = clusterWide<Node>('', 'v1', 'Node', 'nodes');
export const ingressClasses = clusterWide<IngressClass>('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses');
export const selfSubjectAccessReviews = clusterWide<SelfSubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);
export const subjectAccessReviews = clusterWide<SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
);
export const tokenReviews = clusterWide<TokenReview>('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews');
export const customResourceDefinitions = clusterWide<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const mutatingWebhooks = clusterWide<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
);
export const validatingWebhooks = clusterWide<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
);

export const mutatingPolicies = clusterWide(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingAdmissionPolicy',
  'mutatingadmissionpolicies',
);
export const mutatingPolicyBindings = clusterWide(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingAdmissionPolicyBinding',
  'mutatingadmissionpolicybindings',
);

/** The `apiVersion` of objects of this kind: `v1`, `apps/v1`. */
export function apiVersion({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Splits `apps/v1` into its group and version; the core group is empty. */
export function groupVersion(text: string): { group: string; version: string } {
  const slash = text.indexOf('/');
  return slash < 0 ? { group: '', version: text } : { group: text.slice(0, slash), version: text.slice(slash + 1) };
}

/** The plural that Knative's ApiServerSource derives from a kind by spelling alone: `gatewaies` for Gateway. */
export function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) {
    return singular;
  }
  return singular.endsWith('s') ? `${singular}es` : `${singular.replace(/y$/, 'ie')}s`;
}

function namespaced<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: true };
}

function clusterWide<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: false };
}
