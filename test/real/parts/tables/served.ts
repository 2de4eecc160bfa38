/** The kinds that the sandbox serves, by group and version. */
export const served: Readonly<Record<string, readonly string[]>> = {
  v1: [
    ...['configmaps', 'endpoints', 'events', 'limitranges', 'namespaces', 'nodes', 'persistentvolumeclaims'],
    ...['persistentvolumes', 'pods', 'podtemplates', 'replicationcontrollers', 'resourcequotas', 'secrets'],
    ...['serviceaccounts', 'services'],
  ],
  'admissionregistration.k8s.io/v1': [
    ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'],
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'],
  ],
  'apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  'apps/v1': ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  'authentication.k8s.io/v1': ['selfsubjectreviews', 'tokenreviews'],
  'authorization.k8s.io/v1': [
    ...['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
  ],
  'autoscaling/v1': ['horizontalpodautoscalers'],
  'autoscaling/v2': ['horizontalpodautoscalers'],
  'batch/v1': ['cronjobs', 'jobs'],
  'coordination.k8s.io/v1': ['leases'],
  'discovery.k8s.io/v1': ['endpointslices'],
  'events.k8s.io/v1': ['events'],
  'networking.k8s.io/v1': ['ingressclasses', 'ingresses', 'networkpolicies'],
  'policy/v1': ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io/v1': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'scheduling.k8s.io/v1': ['priorityclasses'],
  'storage.k8s.io/v1': ['storageclasses'],
};

export function apiPath(groupVersion: string): string {
  return groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;
}
