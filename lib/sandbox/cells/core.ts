import type { KubeObject } from '../../kube/model/wire.ts';
import { isTrueCondition } from './condition.ts';
import { asCoreEvent } from '../model/convert.ts';
import { listAt, objectAt, stringAt } from '../schema/value.ts';
import {
  ago,
  agoCell,
  type Cell,
  type Cells,
  containersCell,
  joined,
  labelsText,
  missing,
  numberCell,
  objectsAt,
  sizeCell,
  textCell,
  unknown,
  unset,
} from './cell.ts';
import { podCells } from './pod.ts';
import { serviceCells } from './service.ts';

const events: Cells = {
  'Last Seen': (event, now) => ago(lastSeen(event), now) ?? unknown,
  Type: textCell('', 'type'),
  Reason: textCell('', 'reason'),
  Object: involved,
  Subobject: textCell('', 'involvedObject', 'fieldPath'),
  Source: (event) =>
    [stringAt(event, 'source', 'component') ?? stringAt(event, 'reportingComponent'), stringAt(event, 'source', 'host')]
      .filter((part) => part !== undefined && part !== '')
      .join(', '),
  Message: (event) => (stringAt(event, 'message') ?? '').trim(),
  'First Seen': (event, now) => ago(stringAt(event, 'firstTimestamp') ?? lastSeen(event), now) ?? unknown,
  Count: (event) => Number(objectAt(event)['count'] ?? 1),
};

const claims: Cells = {
  Status: phase,
  Volume: textCell('', 'spec', 'volumeName'),
  Capacity: textCell('', 'status', 'capacity', 'storage'),
  'Access Modes': (claim) => accessModes(listAt(claim, 'status', 'accessModes')),
  StorageClass: textCell('', 'spec', 'storageClassName'),
  VolumeAttributesClass: textCell(unset, 'spec', 'volumeAttributesClassName'),
  VolumeMode: textCell(unset, 'spec', 'volumeMode'),
};

const volumes: Cells = {
  Capacity: textCell('', 'spec', 'capacity', 'storage'),
  'Access Modes': (volume) => accessModes(listAt(volume, 'spec', 'accessModes')),
  'Reclaim Policy': textCell('', 'spec', 'persistentVolumeReclaimPolicy'),
  Status: phase,
  Claim: ({ ...volume }) => {
    const name = stringAt(volume, 'spec', 'claimRef', 'name');
    return name === undefined ? '' : `${stringAt(volume, 'spec', 'claimRef', 'namespace') ?? ''}/${name}`;
  },
  StorageClass: textCell('', 'spec', 'storageClassName'),
  VolumeAttributesClass: textCell(unset, 'spec', 'volumeAttributesClassName'),
  Reason: textCell('', 'status', 'reason'),
  VolumeMode: textCell(unset, 'spec', 'volumeMode'),
};

const nodes: Cells = {
  Status: nodeStatus,
  Roles: nodeRoles,
  Version: textCell('', 'status', 'nodeInfo', 'kubeletVersion'),
  'Internal-IP': (node) => nodeAddress(node, 'InternalIP'),
  'External-IP': (node) => nodeAddress(node, 'ExternalIP'),
  'OS-Image': textCell(unknown, 'status', 'nodeInfo', 'osImage'),
  'Kernel-Version': textCell(unknown, 'status', 'nodeInfo', 'kernelVersion'),
  'Container-Runtime': textCell(unknown, 'status', 'nodeInfo', 'containerRuntimeVersion'),
};

export const core: Readonly<Record<string, Cells>> = {
  configmaps: { Data: sizeCell('data', 'binaryData') },
  secrets: { Type: textCell('', 'type'), Data: sizeCell('data') },
  namespaces: { Status: textCell('', 'status', 'phase') },
  endpoints: { Endpoints: endpoints },
  events,
  'events.events.k8s.io': Object.fromEntries(
    Object.entries(events).map(([name, cell]): [string, Cell] => [name, (event, now) => cell(asCoreEvent(event), now)]),
  ),
  nodes,
  persistentvolumeclaims: claims,
  persistentvolumes: volumes,
  pods: podCells,
  podtemplates: {
    Containers: containersCell('name', 'template'),
    Images: containersCell('image', 'template'),
    'Pod Labels': (template) => labelsText(objectAt(template, 'template', 'metadata', 'labels')),
  },
  replicationcontrollers: {
    Desired: numberCell('spec', 'replicas'),
    Current: numberCell('status', 'replicas'),
    Ready: numberCell('status', 'readyReplicas'),
    Containers: containersCell('name', 'spec', 'template'),
    Images: containersCell('image', 'spec', 'template'),
    Selector: (controller) => labelsText(objectAt(controller, 'spec', 'selector')),
  },
  resourcequotas: { Request: (quota) => quotaText(quota, false), Limit: (quota) => quotaText(quota, true) },
  services: serviceCells,
  'leases.coordination.k8s.io': { Holder: textCell('', 'spec', 'holderIdentity') },
  'endpointslices.discovery.k8s.io': {
    AddressType: textCell('', 'addressType'),
    Ports: (slice) => orUnset(objectsAt(slice, 'ports').map(({ port }) => String(port))),
    Endpoints: (slice) =>
      orUnset(objectsAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String))),
  },
  'priorityclasses.scheduling.k8s.io': {
    Value: numberCell('value'),
    'Global-Default': (priority) => objectAt(priority)['globalDefault'] === true,
    PreemptionPolicy: textCell('', 'preemptionPolicy'),
  },
  'storageclasses.storage.k8s.io': {
    Provisioner: textCell('', 'provisioner'),
    ReclaimPolicy: textCell('Delete', 'reclaimPolicy'),
    VolumeBindingMode: textCell('Immediate', 'volumeBindingMode'),
    AllowVolumeExpansion: (storage) => objectAt(storage)['allowVolumeExpansion'] === true,
  },
  'controllerrevisions.apps': {
    Controller: ({ metadata }) =>
      metadata?.ownerReferences?.find(({ controller }) => controller === true)?.name ?? missing,
    Revision: numberCell('revision'),
  },
  'cronjobs.batch': {
    Schedule: textCell('', 'spec', 'schedule'),
    Timezone: textCell(missing, 'spec', 'timeZone'),
    Suspend: (job) => (objectAt(job, 'spec')['suspend'] === true ? 'True' : 'False'),
    Active: (job) => listAt(job, 'status', 'active').length,
    'Last Schedule': agoCell('status', 'lastScheduleTime'),
    Containers: containersCell('name', 'spec', 'jobTemplate', 'spec', 'template'),
    Images: containersCell('image', 'spec', 'jobTemplate', 'spec', 'template'),
  },
};

function phase(object: KubeObject): string {
  const { deletionTimestamp } = object.metadata ?? {};
  return deletionTimestamp === undefined ? (stringAt(object, 'status', 'phase') ?? '') : 'Terminating';
}

function lastSeen(event: KubeObject): string | undefined {
  return (
    stringAt(event, 'series', 'lastObservedTime') ?? stringAt(event, 'lastTimestamp') ?? stringAt(event, 'eventTime')
  );
}

function involved(event: KubeObject): string {
  const kind = (stringAt(event, 'involvedObject', 'kind') ?? '').toLowerCase();
  const name = stringAt(event, 'involvedObject', 'name') ?? '';
  return name === '' ? kind : `${kind}/${name}`;
}

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(modes: readonly unknown[]): string {
  return modes.map((mode) => shortModes[String(mode)] ?? String(mode)).join(',');
}

function nodeStatus(node: KubeObject): string {
  const ready = isTrueCondition(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : ready ? 'Ready' : 'NotReady';
  return objectAt(node, 'spec')['unschedulable'] === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles(node: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.entries(node.metadata?.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) {
      return [key.slice(prefix.length)];
    }
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return joined(roles.sort());
}

function nodeAddress(node: KubeObject, type: string): string {
  return (
    stringAt(
      objectsAt(node, 'status', 'addresses').find((address) => address['type'] === type),
      'address',
    ) ?? missing
  );
}

function endpoints(object: KubeObject): string {
  const all = objectsAt(object, 'subsets').flatMap((subset) =>
    objectsAt(subset, 'addresses').flatMap(({ ip }) => {
      const ports = objectsAt(subset, 'ports').map(({ port }) => `${String(ip)}:${String(port)}`);
      return ports.length === 0 ? [String(ip)] : ports;
    }),
  );
  return shortened(all, missing);
}

function orUnset(values: readonly string[]): string {
  return shortened(values, unset);
}

function shortened(values: readonly string[], empty: string): string {
  const shown = values.slice(0, 3).join(',');
  return values.length > 3 ? `${shown} + ${values.length - 3} more...` : shown || empty;
}

function quotaText(quota: KubeObject, isLimit: boolean): string {
  const used = objectAt(quota, 'status', 'used');
  return Object.entries(objectAt(quota, 'status', 'hard'))
    .filter(([name]) => name.startsWith('limits.') === isLimit)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${stringAt(used, name) ?? '0'}/${String(hard)}`)
    .join(', ');
}
