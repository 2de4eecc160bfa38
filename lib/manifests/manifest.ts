import { version } from '../version.ts';

/** One Kubernetes object as a file holds it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  readonly [field: string]: unknown;
}

export interface ManifestMetadata {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Where the functions are installed, and what they share there. */
export interface Site {
  readonly namespace: string;
  readonly image: string;
  readonly broker: string;
  /** The Knative Service that takes events which nobody could handle. */
  readonly deadLetters: string;
}

/** What `knative/shared` sets up. An overlay moves the image to another registry. */
export const standardSite: Site = {
  namespace: 'kube-reflex',
  image: `kube-reflex:${version}`,
  broker: 'kube-reflex',
  deadLetters: 'dead-letters',
};

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

/** Each value once, in the order of its first appearance. */
export function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
