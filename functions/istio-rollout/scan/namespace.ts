import { matches, parseSelector } from '../../../lib/kube/model/selector.ts';
import type { Config } from '../config.ts';
import type { NamespaceView } from '../mesh/mesh.ts';

/** istiod never injects here, whatever labels say. */
const ignoredByIstiod = ['kube-system', 'kube-public', 'kube-node-lease', 'local-path-storage'];

/** Whether the settings leave a namespace out. */
export function skipsNamespace(
  name: string,
  namespace: NamespaceView | undefined,
  { SKIP_NAMESPACES, NAMESPACES, NAMESPACE_SELECTOR }: Config,
): boolean {
  return (
    ignoredByIstiod.includes(name) ||
    SKIP_NAMESPACES.includes(name) ||
    (NAMESPACES.length > 0 && !NAMESPACES.includes(name)) ||
    (namespace !== undefined && !matches(parseSelector(NAMESPACE_SELECTOR), namespace.labels))
  );
}
