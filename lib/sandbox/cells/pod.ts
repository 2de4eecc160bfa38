import type { KubeObject } from '../../kube/model/wire.ts';
import { type Json, listAt, objectAt, stringAt } from '../schema/value.ts';
import { ago, type Cells, missing, numberAt, objectsAt, textCell } from './cell.ts';

export const podCells: Cells = {
  Ready: (pod) => `${readyContainers(pod)}/${listAt(pod, 'spec', 'containers').length}`,
  Status: podStatus,
  Restarts: (pod, now) => restarts(pod, now),
  IP: textCell(missing, 'status', 'podIP'),
  Node: textCell(missing, 'spec', 'nodeName'),
  'Nominated Node': textCell(missing, 'status', 'nominatedNodeName'),
  'Readiness Gates': readinessGates,
};

function containerStatuses(pod: KubeObject): readonly Json[] {
  return objectsAt(pod, 'status', 'containerStatuses');
}

function readyContainers(pod: KubeObject): number {
  return containerStatuses(pod).filter((status) => status['ready'] === true).length;
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata?.deletionTimestamp !== undefined) {
    return 'Terminating';
  }
  const reason = stringAt(pod, 'status', 'reason') ?? stringAt(pod, 'status', 'phase') ?? '';
  const states = containerStatuses(pod).map((status) => objectAt(status, 'state'));
  const waiting = states.map((state) => stringAt(state, 'waiting', 'reason')).find((text) => text !== undefined);
  const ended = states.map((state) => stringAt(state, 'terminated', 'reason')).find((text) => text !== undefined);
  return waiting ?? ended ?? reason;
}

function restarts(pod: KubeObject, now: Date): string {
  const statuses = containerStatuses(pod);
  const count = statuses.reduce((sum, status) => sum + numberAt(status, 'restartCount'), 0);
  const last = statuses
    .map((status) => stringAt(status, 'lastState', 'terminated', 'finishedAt'))
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${ago(last, now) ?? ''} ago)`;
}

function readinessGates(pod: KubeObject): string {
  const gates = objectsAt(pod, 'spec', 'readinessGates').map((gate) => gate['conditionType']);
  const conditions = objectsAt(pod, 'status', 'conditions');
  const open = gates.filter((gate) => conditions.some(({ type, status }) => type === gate && status === 'True'));
  return gates.length === 0 ? missing : `${open.length}/${gates.length}`;
}
