import type { KubeObject } from '../../../lib/kube/model/wire.ts';

/** What of the metadata is ours. */
const prefix = 'coredns-sync.kube-reflex.dev/';

export type AnnotationName =
  | 'changed-at'
  | 'classes'
  | 'cleanup'
  | 'content-sha256'
  | 'generation'
  | 'hosts'
  | 'losing'
  | 'mappings'
  | 'observed-rv'
  | 'of'
  | 'render-mode'
  | 'stub-domains'
  | 'touched-at'
  | 'written-at';

export function annotationKey(name: AnnotationName): string {
  return prefix + name;
}

export function annotationOf(object: KubeObject | undefined, name: AnnotationName): string | undefined {
  return object?.metadata?.annotations?.[annotationKey(name)];
}

/** What of an object's annotations is ours. */
export function ownAnnotations(object: KubeObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(object.metadata?.annotations ?? {}).filter(([key]) => key.startsWith(prefix)),
  );
}

export function annotated(values: Readonly<Partial<Record<AnnotationName, string>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

/**
 * The newest version of the sources that rules rest on, 0 where none is known. Whatever was read to write an object is older
 * than the object: a number above its own is none of ours, and would hold up every pass.
 */
export function observedVersion(object: KubeObject | undefined): number {
  const observed = Number(annotationOf(object, 'observed-rv') ?? 0);
  return observed <= Number(object?.metadata?.resourceVersion ?? 0) ? observed : 0;
}

export const managedBy = 'app.kubernetes.io/managed-by';
export const instanceLabel = 'app.kubernetes.io/instance';

/** Says whose ConfigMap it is. */
export function ownerLabels(instance: string): Record<string, string> {
  return { [managedBy]: 'coredns-sync', [instanceLabel]: instance };
}
