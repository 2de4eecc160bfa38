/** Where a function is installed. */
export interface Site {
  readonly namespace: string;
}

/** A workload of a function: the events half, the admission half, or what watches the API server for it. */
export type Part = 'events' | 'webhook' | 'source';

export function labelsOf(name: string, part: Part): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': part,
    'app.kubernetes.io/part-of': 'kube-reflex',
  };
}

/** The workload that handles events carries the function's own name. */
export function partName(name: string, part: Part): string {
  return part === 'events' ? name : `${name}-${part}`;
}

/** Names without a namespace are shared by the whole cluster, so they say whose they are. */
export function clusterName(name: string): string {
  return `kube-reflex-${name}`;
}
