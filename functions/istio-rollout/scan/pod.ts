import type { Pod } from '../../../lib/kube/model/resource.ts';
import type { Fields } from '../../../lib/kube/skim.ts';
import type { OwnerReference } from '../../../lib/kube/model/wire.ts';
import { looksBeyondImage, type DriftCheck } from '../config.ts';
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

/** What has to be read of a pod for its view. */
export function podFields(checks: readonly DriftCheck[]): Fields {
  const container = looksBeyondImage(checks) ? true : ({ name: true, image: true } as const);
  return {
    metadata: {
      namespace: true,
      name: true,
      uid: true,
      creationTimestamp: true,
      deletionTimestamp: true,
      ownerReferences: true,
      labels: { 'controller-revision-hash': true, 'pod-template-generation': true },
      annotations: { 'sidecar.istio.io/status': true, 'istio.io/rev': true, 'kubernetes.io/config.mirror': true },
    },
    spec: { containers: container, initContainers: container },
    status: { phase: true },
  };
}

/** Undefined for a pod that has ended, is on its way out, or belongs to a kubelet. */
export function podView(pod: Pod, checks: readonly DriftCheck[]): PodView | undefined {
  const { metadata = {} } = pod;
  if (!isLive(pod)) {
    return undefined;
  }
  const { namespace = '', name = '', uid = '', creationTimestamp = '' } = metadata;
  const proxy = proxyOf(pod, checks);
  return {
    namespace,
    name,
    uid,
    createdAt: Date.parse(creationTimestamp),
    ...originOf(metadata),
    ...(proxy && { proxy }),
  };
}

function isLive({ metadata, status }: Pod): boolean {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const isMirror = metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  return !hasEnded && !isMirror && metadata?.deletionTimestamp === undefined;
}

function originOf({
  labels = {},
  ownerReferences,
}: NonNullable<Pod['metadata']>): Pick<PodView, 'owner' | 'revisionHash' | 'templateGeneration'> {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  const { 'controller-revision-hash': revisionHash, 'pod-template-generation': templateGeneration } = labels;
  return {
    ...(owner && { owner }),
    ...(revisionHash !== undefined && { revisionHash }),
    ...(templateGeneration !== undefined && { templateGeneration }),
  };
}
