import type { KubeObject } from '../../lib/kube/wire.ts';

/** What of the metadata is ours. */
const prefix = 'coredns-sync.kube-reflex.dev/';

export type AnnotationName =
  | 'changed-at'
  | 'cleanup'
  | 'content-sha256'
  | 'generation'
  | 'hosts'
  | 'losing'
  | 'mappings'
  | 'observed-rv'
  | 'of'
  | 'render-mode'
  | 'touched-at';

export function annotationKey(name: AnnotationName): string {
  return prefix + name;
}

export function annotationOf(object: KubeObject | undefined, name: AnnotationName): string | undefined {
  return object?.metadata?.annotations?.[annotationKey(name)];
}

export function annotated(values: Readonly<Partial<Record<AnnotationName, string>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

export const managedBy = 'app.kubernetes.io/managed-by';
export const instanceLabel = 'app.kubernetes.io/instance';

/** Says whose ConfigMap it is. */
export function ownerLabels(instance: string): Record<string, string> {
  return { [managedBy]: 'coredns-sync', [instanceLabel]: instance };
}
