import type { Node, Pod } from '../../kube/model/resource.ts';
import { timestamp } from '../model/clock.ts';
import type { Caller, InternalApi, ObjectEvent } from '../model/internal.ts';
import { nodes, pods } from './kinds.ts';
import { keyOf, parseKey } from './owned.ts';
import { condition, isActive } from './pod.ts';
import { createQueue } from './queue.ts';
import { chooseNode } from './scheduling.ts';

const as: Caller = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };

/** Places pods on nodes. The answer stops it. */
export function startScheduler(api: InternalApi): () => void {
  const counts = new Map<string, number>();
  /** Pods that no node would take; a change of the nodes gives them another try. */
  const homeless = new Set<string>();
  const queue = createQueue(api.clock, look, { workers: 16 });

  function count(pod: Pod | undefined, change: number): void {
    const node = pod?.spec?.nodeName ?? '';
    if (node !== '') {
      counts.set(node, (counts.get(node) ?? 0) + change);
    }
  }

  function onPod({ type, object, old }: ObjectEvent): void {
    count(type === 'DELETED' ? undefined : object, 1);
    count(old, -1);
    if (type === 'DELETED') {
      homeless.delete(keyOf(object));
    } else if (isWaiting(object)) {
      queue.add(keyOf(object));
    }
  }

  async function look(key: string): Promise<void> {
    const { namespace, name } = parseKey(key);
    const pod = api.get(pods, name, namespace) as Pod | undefined;
    if (pod === undefined || !isWaiting(pod)) {
      return;
    }
    const all = api.list(nodes) as readonly Node[];
    const { node, why } = chooseNode(pod, all.filter(isReady), (each) => counts.get(each) ?? 0);
    if (node === undefined) {
      homeless.add(key);
      await report(pod, why);
      return;
    }
    homeless.delete(key);
    await bind(pod, node);
  }

  /** The place is reserved while the write is under way. */
  async function bind(pod: Pod, nodeName: string): Promise<void> {
    const placed = { ...pod, spec: { containers: [], ...pod.spec, nodeName } };
    count(placed, 1);
    try {
      await api.update(pods, placed, { subresource: 'binding' }, as);
    } finally {
      count(placed, -1);
    }
  }

  async function report(pod: Pod, message: string): Promise<void> {
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (known?.message === message) {
      return;
    }
    const failed = {
      type: 'PodScheduled',
      status: 'False',
      lastTransitionTime: timestamp(api.now()),
      reason: 'Unschedulable',
      message,
    };
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
    const reported: Pod = { ...pod, status: { ...pod.status, conditions: [...others, failed] } };
    await api.update(pods, reported, { subresource: 'status' }, as);
  }

  const stops = [
    api.subscribe(pods, onPod),
    api.subscribe(nodes, () => homeless.forEach((key) => queue.add(key))),
    () => queue.close(),
  ];
  for (const object of api.list(pods)) {
    onPod({ type: 'ADDED', object });
  }
  return () => stops.forEach((stop) => stop());
}

function isWaiting(pod: Pod): boolean {
  const { nodeName = '', schedulingGates = [] } = pod.spec ?? {};
  return nodeName === '' && schedulingGates.length === 0 && isActive(pod);
}

function isReady(node: Node): boolean {
  return condition(node, 'Ready')?.status === 'True';
}
