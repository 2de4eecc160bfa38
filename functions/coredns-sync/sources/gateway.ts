import type { Resource } from '../../../lib/kube/model/resource.ts';
import type { LabelSelector } from '../../../lib/kube/model/selector.ts';
import type { KubeObject, Metadata } from '../../../lib/kube/model/wire.ts';

/** Gateway API v1, as far as hosts depend on it. */
export interface Gateway extends KubeObject {
  metadata?: Metadata;
  spec?: { readonly gatewayClassName?: string; readonly listeners?: readonly Listener[] };
}

export interface Listener {
  readonly name?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector };
    readonly kinds?: readonly { readonly group?: string; readonly kind?: string }[];
  };
}

export interface ParentRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** HTTPRoute, GRPCRoute and TLSRoute are alike in all that matters here. */
export interface Route extends KubeObject {
  metadata?: Metadata;
  spec?: { readonly hostnames?: readonly string[]; readonly parentRefs?: readonly ParentRef[] };
  status?: {
    readonly parents?: readonly {
      readonly parentRef?: ParentRef;
      readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
    }[];
  };
}

export const gatewayGroup = 'gateway.networking.k8s.io';

export const gateways: Resource<Gateway> = {
  group: gatewayGroup,
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};
