import type { DaemonSet, Pod } from '../../kube/model/resource.ts';
import { hasEnded, isReady, isTerminating } from './pod.ts';
import { share } from './rollout.ts';
import { controllerReference, podFrom } from './template.ts';

/** Trouble of a node that daemons live with. */
const tolerated = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

export interface DaemonState {
  readonly set: DaemonSet;
  readonly pods: readonly Pod[];
  readonly eligible: ReadonlySet<string>;
  /** Of the present template. */
  readonly hash: string;
}

/** Nodes that lack a pod, and pods that must go: misplaced, ended, doubled, or next to be updated. */
export function daemonPlan(state: DaemonState): {
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
} {
  const { pods, eligible } = state;
  const taken = new Set<string>();
  const surplus: Pod[] = [];
  for (const pod of pods.toSorted(oldestFirst)) {
    const node = nodeOf(pod);
    const isWanted = eligible.has(node) && !hasEnded(pod) && !(taken.has(node) && !isTerminating(pod));
    taken.add(node);
    surplus.push(...(isWanted || isTerminating(pod) ? [] : [pod]));
  }
  return {
    create: [...eligible].filter((node) => !taken.has(node)),
    remove: [...surplus, ...outdated(state, surplus)],
  };
}

/** Old pods to replace now: those that are not ready anyway, and as many others as may be missing. */
function outdated({ set, pods, eligible, hash }: DaemonState, surplus: readonly Pod[]): readonly Pod[] {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') {
    return [];
  }
  const placed = pods.filter((pod) => eligible.has(nodeOf(pod)) && !surplus.includes(pod));
  const well = placed.filter((pod) => isReady(pod) && !isTerminating(pod)).length;
  const mayMiss = Math.max(1, share(rollingUpdate?.maxUnavailable ?? 1, eligible.size, Math.ceil));
  const old = placed.filter(
    (pod) => !isTerminating(pod) && pod.metadata?.labels?.['controller-revision-hash'] !== hash,
  );
  const broken = old.filter((pod) => !isReady(pod));
  const budget = Math.max(0, mayMiss - (eligible.size - well));
  return [...broken, ...old.filter(isReady).slice(0, budget)];
}

function oldestFirst(a: Pod, b: Pod): number {
  return Date.parse(a.metadata?.creationTimestamp ?? '') - Date.parse(b.metadata?.creationTimestamp ?? '');
}

/** The node that a daemon pod is on or is made for. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? pinnedTo(spec) ?? '';
}

function pinnedTo(spec: Pod['spec']): string | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0];
}

export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const { namespace = '', annotations, generation = 1 } = set.metadata ?? {};
  const made = podFrom(set.spec?.template ?? {}, namespace, controllerReference(set, 'apps/v1', 'DaemonSet'));
  const labels = {
    ...made.metadata?.labels,
    'controller-revision-hash': hash,
    'pod-template-generation': annotations?.['deprecated.daemonset.template.generation'] ?? String(generation),
  };
  return {
    ...made,
    metadata: { ...made.metadata, labels },
    ...(made.spec && { spec: pinned(made.spec, node) }),
  };
}

type PodSpec = NonNullable<Pod['spec']>;

/** The term for the node replaces other fields and joins each term that the template requires. */
function pinned(spec: PodSpec, node: string): PodSpec {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map((term) => ({ ...term, matchFields })),
        },
      },
    },
    tolerations: [...(spec.tolerations ?? []), ...tolerated],
  };
}
