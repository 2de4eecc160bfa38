import type { KubeObject } from '../../kube/model/wire.ts';
import { humanDuration } from './age.ts';
import { at, objectAt, stringAt } from '../schema/value.ts';
import {
  type Cells,
  containersCell,
  labelsText,
  missing,
  numberAt,
  numberCell,
  objectsAt,
  selectorCell,
  textCell,
} from './cell.ts';
import { isTrueCondition } from './condition.ts';
import { loadBalancerAddresses } from './service.ts';

const template: Cells = {
  Containers: containersCell('name', 'spec', 'template'),
  Images: containersCell('image', 'spec', 'template'),
  Selector: selectorCell('spec', 'selector'),
};

export const apps: Readonly<Record<string, Cells>> = {
  'deployments.apps': {
    ...template,
    Ready: (set) => `${numberAt(set, 'status', 'readyReplicas')}/${numberAt(set, 'spec', 'replicas')}`,
    'Up-to-date': numberCell('status', 'updatedReplicas'),
    Available: numberCell('status', 'availableReplicas'),
  },
  'statefulsets.apps': {
    ...template,
    Ready: (set) => `${numberAt(set, 'status', 'readyReplicas')}/${numberAt(set, 'spec', 'replicas')}`,
  },
  'replicasets.apps': {
    ...template,
    Desired: numberCell('spec', 'replicas'),
    Current: numberCell('status', 'replicas'),
    Ready: numberCell('status', 'readyReplicas'),
  },
  'daemonsets.apps': {
    ...template,
    Desired: numberCell('status', 'desiredNumberScheduled'),
    Current: numberCell('status', 'currentNumberScheduled'),
    Ready: numberCell('status', 'numberReady'),
    'Up-to-date': numberCell('status', 'updatedNumberScheduled'),
    Available: numberCell('status', 'numberAvailable'),
    'Node Selector': (set) => labelsText(objectAt(set, 'spec', 'template', 'spec', 'nodeSelector')),
  },
  'jobs.batch': { ...template, Status: jobStatus, Completions: completions, Duration: duration },
  'ingresses.networking.k8s.io': {
    Class: textCell(missing, 'spec', 'ingressClassName'),
    Hosts: hosts,
    Address: (ingress) => loadBalancerAddresses(ingress).join(','),
    Ports: (ingress) => (objectsAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80'),
  },
  'networkpolicies.networking.k8s.io': { 'Pod-Selector': selectorCell('spec', 'podSelector') },
};

function jobStatus(job: KubeObject): string {
  const states = [
    ['Complete', 'Complete'],
    ['Failed', 'Failed'],
    ['Suspended', 'Suspended'],
    ['FailureTarget', 'FailureTarget'],
    ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
  ] as const;
  if (job.metadata?.deletionTimestamp !== undefined) {
    return 'Terminating';
  }
  return states.find(([type]) => isTrueCondition(job, type) === true)?.[1] ?? 'Running';
}

function completions(job: KubeObject): string {
  const done = numberAt(job, 'status', 'succeeded');
  const wanted = at(job, 'spec', 'completions');
  if (typeof wanted === 'number') {
    return `${done}/${wanted}`;
  }
  const parallel = numberAt(job, 'spec', 'parallelism');
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function duration(job: KubeObject, now: Date): string {
  const start = stringAt(job, 'status', 'startTime');
  if (start === undefined) {
    return '';
  }
  const end = stringAt(job, 'status', 'completionTime');
  const until = end === undefined ? now.getTime() : Date.parse(end);
  return humanDuration((until - Date.parse(start)) / 1000);
}

function hosts(ingress: KubeObject): string {
  const names = objectsAt(ingress, 'spec', 'rules').map((rule) => stringAt(rule, 'host') ?? '*');
  const shown = names.slice(0, 3).join(',');
  return names.length > 3 ? `${shown} + ${names.length - 3} more...` : shown || '*';
}
