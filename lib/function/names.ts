/** Where a function is installed. */
export interface Site {
  readonly namespace: string;
}

/** A workload of a function: the events role, the admission role, or its event source. */
export type Part = 'events' | 'webhook' | 'source';

export function labelsOf(name: string, part: Part): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': part,
    'app.kubernetes.io/part-of': 'kube-reflex',
  };
}

/** The name of a workload. The events role carries the function's own name. */
export function partName(name: string, part: Part): string {
  return part === 'events' ? name : `${name}-${part}`;
}

/** The name of a cluster-scoped object: it is shared by the whole cluster, so it has a prefix. */
export function clusterName(name: string): string {
  return `kube-reflex-${name}`;
}
