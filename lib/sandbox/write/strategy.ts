import type { KubeObject } from '../../kube/model/wire.ts';
import { type Kind, resourceName } from '../model/kinds.ts';
import { qosClass } from './qos.ts';
import { isEqual, type Json, listAt, objectAt } from '../schema/value.ts';

/** Kinds of the built-in ones that count generations. */
const counted = new Set([
  'pods',
  'podtemplates',
  'replicationcontrollers',
  'deployments.apps',
  'replicasets.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'ingresses.networking.k8s.io',
  'ingressclasses.networking.k8s.io',
  'networkpolicies.networking.k8s.io',
  'poddisruptionbudgets.policy',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'endpointslices.discovery.k8s.io',
  'priorityclasses.scheduling.k8s.io',
]);

/** Kinds whose status a client may set while creating: a kubelet registers its node as it is. */
const keepStatus = new Set(['nodes']);

/** Kinds that a PUT to a free name creates. */
const createdByUpdate = new Set([
  'endpoints',
  'events',
  'limitranges',
  'podtemplates',
  'services',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
]);

/** Kinds of which an update must name the revision that it starts from; custom kinds all belong here. */
const conditionalUpdates = new Set([
  'leases.coordination.k8s.io',
  'poddisruptionbudgets.policy',
  'customresourcedefinitions.apiextensions.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
]);

const emptyStatus: Readonly<Record<string, Json>> = {
  namespaces: { phase: 'Active' },
  pods: { phase: 'Pending' },
  persistentvolumeclaims: { phase: 'Pending' },
  persistentvolumes: { phase: 'Pending' },
  services: { loadBalancer: {} },
  replicationcontrollers: { replicas: 0 },
  'replicasets.apps': { replicas: 0 },
  'statefulsets.apps': { replicas: 0, availableReplicas: 0 },
  'daemonsets.apps': { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  'ingresses.networking.k8s.io': { loadBalancer: {} },
  'poddisruptionbudgets.policy': { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  'horizontalpodautoscalers.autoscaling': { desiredReplicas: 0, currentMetrics: null },
};

export function mayBeCreatedByUpdate(kind: Kind): boolean {
  return createdByUpdate.has(resourceName(kind));
}

export function needsResourceVersion(kind: Kind): boolean {
  return kind.isCustom || conditionalUpdates.has(resourceName(kind));
}

/** What the server decides about a new object, whatever the client sent. */
export function beforeCreate(kind: Kind, object: KubeObject): KubeObject {
  const { generation: _sent, ...metadata } = object.metadata ?? {};
  return {
    ...(hasStatus(kind) ? withStatus(object, newStatus(kind, object)) : object),
    metadata: countsGenerations(kind) ? { ...metadata, generation: 1 } : metadata,
  };
}

/** What the server decides about a changed object: who may change which part, and its generation. */
export function beforeUpdate(kind: Kind, object: KubeObject, old: KubeObject, subresource?: string): KubeObject {
  if (subresource === 'status') {
    return statusUpdate(kind, object, old);
  }
  const own =
    resourceName(kind) === 'namespaces' && subresource === undefined ? withOldFinalizers(object, old) : object;
  const kept = hasStatus(kind) ? withStatus(own, (old as Json)['status']) : own;
  const generation = subresource === 'binding' ? generationOf(old.metadata ?? {}) : generationAfter(kind, kept, old);
  return { ...kept, metadata: { ...kept.metadata, ...generation } };
}

/** Through `status` a custom object changes nothing else; built-in kinds let annotations and finalizers through. */
function statusUpdate(kind: Kind, object: KubeObject, old: KubeObject): KubeObject {
  const { managedFields } = object.metadata ?? {};
  const { labels, ...oldRest } = old.metadata ?? {};
  const { labels: sentLabels, ...sent } = object.metadata ?? {};
  const keptLabels = kind.plural === 'pods' || kind.plural === 'nodes' ? sentLabels : labels;
  const metadata = kind.isCustom
    ? { ...old.metadata, ...(managedFields && { managedFields }) }
    : { ...sent, ...(keptLabels && { labels: keptLabels }), ...generationOf(oldRest) };
  return withStatus({ ...old, metadata }, (object as Json)['status']);
}

function generationOf({ generation }: { generation?: number }): { generation?: number } {
  return generation === undefined ? {} : { generation };
}

function generationAfter(kind: Kind, object: KubeObject, old: KubeObject): { generation?: number } {
  const generation = old.metadata?.generation;
  if (generation === undefined || !countsGenerations(kind)) {
    return generationOf(old.metadata ?? {});
  }
  return { generation: hasNewContent(kind, object, old) ? generation + 1 : generation };
}

function hasNewContent(kind: Kind, object: KubeObject, old: KubeObject): boolean {
  if (resourceName(kind) === 'deployments.apps' && !isEqual(object.metadata?.annotations, old.metadata?.annotations)) {
    return true;
  }
  return !isEqual(content(kind, object), content(kind, old));
}

function content(kind: Kind, object: KubeObject): Json {
  const { metadata: _metadata, ...rest } = object as Json;
  if (!hasStatus(kind)) {
    return rest;
  }
  const { status: _status, ...spec } = rest;
  return spec;
}

function countsGenerations(kind: Kind): boolean {
  return kind.isCustom || counted.has(resourceName(kind));
}

function hasStatus(kind: Kind): boolean {
  return kind.subresources.some(({ name }) => name === 'status') && !keepStatus.has(resourceName(kind));
}

function newStatus(kind: Kind, object: KubeObject): Json | undefined {
  if (kind.isCustom) {
    return undefined;
  }
  const status = emptyStatus[resourceName(kind)] ?? {};
  return resourceName(kind) === 'pods' ? { ...status, qosClass: qosClass(object) } : status;
}

/** The finalizers in a namespace's spec change through `finalize` alone. */
function withOldFinalizers(namespace: KubeObject, old: KubeObject): KubeObject {
  const { finalizers: _sent, ...spec } = objectAt(namespace, 'spec');
  const { finalizers } = objectAt(old, 'spec');
  return { ...namespace, ...{ spec: finalizers === undefined ? spec : { ...spec, finalizers } } };
}

/** Keeps a namespace until it is empty; nobody owns this, so it comes after ownership is recorded. */
export function heldUntilEmpty(kind: Kind, namespace: KubeObject): KubeObject {
  if (resourceName(kind) !== 'namespaces') {
    return namespace;
  }
  const finalizers = new Set([...listAt(namespace, 'spec', 'finalizers'), 'kubernetes']);
  return { ...namespace, ...{ spec: { ...objectAt(namespace, 'spec'), finalizers: [...finalizers] } } };
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  const { status: _sent, ...rest } = object as Json & KubeObject;
  return status === undefined ? rest : { ...rest, ...{ status } };
}
