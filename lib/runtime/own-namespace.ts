import { readFileSync } from 'node:fs';

/** The namespace of this process: POD_NAMESPACE, or else the one that Kubernetes mounts into every pod. */
export function ownNamespace({ POD_NAMESPACE }: { readonly POD_NAMESPACE?: string | undefined }): string {
  return POD_NAMESPACE ?? mountedNamespace() ?? 'default';
}

function mountedNamespace(): string | undefined {
  try {
    return readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/namespace', 'utf8').trim();
  } catch {
    return undefined;
  }
}
