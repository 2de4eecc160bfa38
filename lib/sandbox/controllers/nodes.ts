import type { Node } from '../../kube/model/resource.ts';
import { timestamp } from '../model/clock.ts';
import type { Caller, InternalApi } from '../model/internal.ts';
import { nodes } from './kinds.ts';
import { keyOf, parseKey } from './owned.ts';
import { createQueue } from './queue.ts';

const capacity = { cpu: '16', memory: '64Gi', pods: '10000' };

/** A node of the sandbox's own, as its kubelet would register it. */
export function sandboxNode(name: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    },
  };
}

/** Makes every node ready that nobody has spoken for. The answer stops it. */
export function startNodes(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);

  async function look(key: string): Promise<void> {
    const node = api.get(nodes, parseKey(key).name) as Node | undefined;
    const isKnown = node?.status?.conditions?.some(({ type }) => type === 'Ready') ?? false;
    if (node === undefined || isKnown) {
      return;
    }
    const next: Node = { ...node, status: readyStatus(node, api.now()) };
    await api.update(nodes, next, { subresource: 'status' }, kubelet(node));
  }

  const unsubscribe = api.subscribe(nodes, ({ object }) => queue.add(keyOf(object)));
  for (const node of api.list(nodes)) {
    queue.add(keyOf(node));
  }
  return () => {
    queue.close();
    unsubscribe();
  };
}

function kubelet({ metadata }: Node): Caller {
  return { username: `system:node:${metadata?.name ?? ''}`, groups: ['system:nodes', 'system:authenticated'] };
}

function readyStatus({ metadata, status }: Node, now: Date): NonNullable<Node['status']> {
  const time = timestamp(now);
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: metadata?.name ?? '' },
    ],
    ...status,
    conditions: [...(status?.conditions ?? []), ready],
  };
}
