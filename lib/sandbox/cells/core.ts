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
  events,
  'events.events.k8s.io': Object.fromEntries(
    Object.entries(events).map(([name, cell]): [string, Cell] => [name, (event, now) => cell(asCoreEvent(event), now)]),
  ),
  nodes,
  persistentvolumeclaims: claims,
  pods: podCells,
  services: serviceCells,
  'leases.coordination.k8s.io': { Holder: textCell('', 'spec', 'holderIdentity') },
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
    Selector: () => missing,
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
