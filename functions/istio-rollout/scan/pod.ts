import type { Pod } from '../../../lib/kube/resource.ts';
import type { OwnerReference } from '../../../lib/kube/wire.ts';
import type { DriftCheck } from '../config.ts';
import { proxyOf, type Proxy } from '../drift/proxy.ts';

/** Of a live pod what a scan keeps: a hundredth of its bytes. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** The controller; other owners do not count. */
  readonly owner?: OwnerReference;
  readonly revisionHash?: string;
  readonly templateGeneration?: string;
  readonly proxy?: Proxy;
}

/** Undefined for a pod that has ended, is on its way out, or belongs to a kubelet. */
export function podView({ metadata = {}, spec, status }: Pod, checks: readonly DriftCheck[]): PodView | undefined {
  const {
    namespace = '',
    name = '',
    uid = '',
    labels = {},
    annotations,
    creationTimestamp = '',
    ownerReferences,
  } = metadata;
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const isMirror = annotations?.['kubernetes.io/config.mirror'] !== undefined;
  if (hasEnded || isMirror || metadata.deletionTimestamp !== undefined) {
    return undefined;
  }
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  const revisionHash = labels['controller-revision-hash'];
  const templateGeneration = labels['pod-template-generation'];
  const proxy = proxyOf({ metadata, ...(spec && { spec }) }, checks);
  return {
    namespace,
    name,
    uid,
    createdAt: Date.parse(creationTimestamp),
    ...(owner && { owner }),
    ...(revisionHash !== undefined && { revisionHash }),
    ...(templateGeneration !== undefined && { templateGeneration }),
    ...(proxy && { proxy }),
  };
}
