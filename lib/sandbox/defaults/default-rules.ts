import { isRecord } from '../../base/json.ts';
import { at, isList, listAt, objectAt, stringAt, type Json } from '../schema/value.ts';

/** What a definition's fields depend on beside themselves; answers the fields to add or replace. */
type Rule = (object: Json) => Json;

/** Defaults that follow from other fields, by definition (without `io.k8s.api.`). */
export const defaultRules: Readonly<Record<string, Rule>> = {
  'core.v1.Pod': pod,
  'core.v1.PodSpec': podSpec,
  'core.v1.Container': imagePullPolicy,
  'core.v1.Volume': volume,
  'core.v1.Service': service,
  'core.v1.ServicePort': servicePort,
  'core.v1.Secret': secret,
  'core.v1.Namespace': namespace,
  'core.v1.NodeStatus': ({ capacity, allocatable = capacity }) => (allocatable === undefined ? {} : { allocatable }),
  'apps.v1.DeploymentStrategy': rolling,
  'apps.v1.StatefulSetUpdateStrategy': rolling,
  'apps.v1.DaemonSetUpdateStrategy': rolling,
  'batch.v1.Job': job,
  'networking.v1.NetworkPolicySpec': networkPolicy,
  'rbac.v1.Subject': subject,
  'apiextensions.v1.CustomResourceDefinition': definition,
  'apiextensions.v1.CustomResourceDefinitionNames': definitionNames,
};

function pod(object: Json): Json {
  const spec = objectAt(object, 'spec');
  return { spec: { enableServiceLinks: true, ...spec, containers: listAt(spec, 'containers').map(withRequests) } };
}

/** A container asks for what it is limited to. */
function withRequests(container: unknown): unknown {
  const limits = at(container, 'resources', 'limits');
  if (!isRecord(container) || !isRecord(limits)) {
    return container;
  }
  const resources = objectAt(container, 'resources');
  return { ...container, resources: { ...resources, requests: { ...limits, ...objectAt(resources, 'requests') } } };
}

function podSpec(spec: Json): Json {
  const account = spec['serviceAccountName'] ?? spec['serviceAccount'];
  const named = account === undefined ? {} : { serviceAccountName: account, serviceAccount: account };
  if (spec['hostNetwork'] !== true) {
    return named;
  }
  const containers = listAt(spec, 'containers').map(withHostPorts);
  return { ...named, ...(containers.length === 0 ? {} : { containers }) };
}

function withHostPorts(container: unknown): unknown {
  const ports = at(container, 'ports');
  if (!isRecord(container) || !isList(ports)) {
    return container;
  }
  return {
    ...container,
    ports: ports.map((port) => (isRecord(port) ? { hostPort: port['containerPort'], ...port } : port)),
  };
}

/** An image that may change under its name is pulled always. */
function imagePullPolicy({ image, imagePullPolicy: sent }: Json): Json {
  if (sent !== undefined || typeof image !== 'string') {
    return sent === undefined ? { imagePullPolicy: 'Always' } : {};
  }
  const [reference = '', digest] = image.split('@');
  const tag = /:([^:/]+)$/.exec(reference)?.[1];
  const isFixed = tag === undefined ? digest !== undefined : tag !== 'latest';
  return { imagePullPolicy: isFixed ? 'IfNotPresent' : 'Always' };
}

function volume(object: Json): Json {
  return Object.keys(object).some((name) => name !== 'name') ? {} : { emptyDir: {} };
}

function service(object: Json): Json {
  const spec = objectAt(object, 'spec');
  if (spec['type'] === 'ExternalName') {
    return {};
  }
  return {
    spec: {
      internalTrafficPolicy: 'Cluster',
      ...serviceTypes[String(spec['type'])],
      ...(spec['sessionAffinity'] === 'ClientIP' ? oneSession : {}),
      ...spec,
    },
  };
}

/** Services that can be reached from outside. */
const serviceTypes: Readonly<Record<string, Json>> = {
  NodePort: { externalTrafficPolicy: 'Cluster' },
  LoadBalancer: { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
};

const oneSession = { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } };

function servicePort({ port, targetPort }: Json): Json {
  return targetPort === undefined && port !== undefined ? { targetPort: port } : {};
}

/** `stringData` is for writing only. */
function secret({ data, stringData }: Json): Json {
  if (!isRecord(stringData)) {
    return {};
  }
  const encoded = Object.entries(stringData).map(([name, text]) => [
    name,
    Buffer.from(typeof text === 'string' ? text : '').toString('base64'),
  ]);
  return { data: { ...(isRecord(data) ? data : {}), ...Object.fromEntries(encoded) }, stringData: undefined };
}

function namespace({ metadata }: Json): Json {
  const name = stringAt(metadata, 'name');
  if (name === undefined) {
    return {};
  }
  const labels = { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': name };
  return { metadata: { ...(isRecord(metadata) ? metadata : {}), labels } };
}

/** The settings of a rolling update are there exactly when updates roll. */
function rolling({ type = 'RollingUpdate', rollingUpdate = {} }: Json): Json {
  return type === 'RollingUpdate' ? { rollingUpdate } : {};
}

function job(object: Json): Json {
  const spec = objectAt(object, 'spec');
  const isOnce = spec['completions'] === undefined && spec['parallelism'] === undefined;
  return {
    spec: {
      ...(isOnce ? { completions: 1 } : {}),
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
      ...spec,
    },
  };
}

function networkPolicy({ egress, policyTypes }: Json): Json {
  return policyTypes === undefined ? { policyTypes: egress === undefined ? ['Ingress'] : ['Ingress', 'Egress'] } : {};
}

function subject({ kind, apiGroup }: Json): Json {
  const isPerson = kind === 'User' || kind === 'Group';
  return apiGroup === undefined && isPerson ? { apiGroup: 'rbac.authorization.k8s.io' } : {};
}

/** Until its names are accepted. */
function definition(object: Json): Json {
  const storage = listAt(object, 'spec', 'versions').filter((version) => at(version, 'storage') === true);
  const storedVersions = storage.map((version) => at(version, 'name'));
  return {
    status: {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions,
      ...objectAt(object, 'status'),
    },
  };
}

function definitionNames({ kind, singular, listKind }: Json): Json {
  if (typeof kind !== 'string' || kind === '') {
    return {};
  }
  return {
    ...(singular === undefined ? { singular: kind.toLowerCase() } : {}),
    ...(listKind === undefined ? { listKind: `${kind}List` } : {}),
  };
}
