import type { Operation } from 'fast-json-patch';
import type { Pod } from '../../../lib/kube/model/resource.ts';

/** What an injector puts into pods. */
export interface Proxy {
  readonly revision: string;
  readonly image: string;
  /** As an init container that never ends (a native sidecar) instead of a regular container. */
  readonly native?: boolean;
}

type Container = NonNullable<Pod['spec']>['containers'][number];

const proxyName = 'istio-proxy';
const inject = 'sidecar.istio.io/inject';

/**
 * The patch that an injector like istiod answers for a pod: small, but with what people see of it (proxy, init
 * container, status, revision). Nothing for a pod that istiod itself declines.
 */
export function injection(pod: Pod, proxy: Proxy): Operation[] {
  return isDeclined(pod) ? [] : [...metadataPatch(pod, proxy), ...containerPatch(pod, proxy)];
}

/** The label beats the annotation. */
function isDeclined({ metadata, spec }: Pod): boolean {
  const asked = metadata?.labels?.[inject] ?? metadata?.annotations?.[inject];
  return spec?.hostNetwork === true || asked === 'false';
}

function metadataPatch({ metadata }: Pod, { revision, native = false }: Proxy): Operation[] {
  const status = JSON.stringify({
    revision,
    initContainers: native ? ['istio-init', proxyName] : ['istio-init'],
    containers: native ? [] : [proxyName],
  });
  const annotations = {
    ...metadata?.annotations,
    'istio.io/rev': revision,
    'sidecar.istio.io/status': status,
  };
  return [{ op: 'add', path: '/metadata/annotations', value: annotations }];
}

function containerPatch({ metadata, spec }: Pod, proxy: Proxy): Operation[] {
  const image = metadata?.annotations?.['sidecar.istio.io/proxyImage'] ?? proxy.image;
  const own = spec?.containers.findIndex(({ name }) => name === proxyName) ?? -1;
  return own < 0 ? sidecarPatch(spec, { ...proxy, image }) : gatewayPatch(spec, own, image);
}

/** A container of that name in the template keeps the image it names, unless that is `auto`. */
function gatewayPatch(spec: Pod['spec'], own: number, image: string): Operation[] {
  const isOpen = spec?.containers[own]?.image === 'auto';
  return isOpen ? [{ op: 'replace', path: `/spec/containers/${own}/image`, value: image }] : [];
}

function sidecarPatch(spec: Pod['spec'], { image, native = false }: Proxy): Operation[] {
  const sidecar: Container = { name: proxyName, image, args: ['proxy', 'sidecar'] };
  const init: Container = { name: 'istio-init', image, args: ['istio-iptables'] };
  const added = native ? [init, { ...sidecar, restartPolicy: 'Always' }] : [init];
  return [
    { op: 'add', path: '/spec/initContainers', value: [...added, ...(spec?.initContainers ?? [])] },
    ...(native ? [] : [{ op: 'add', path: '/spec/containers/-', value: sidecar } as const]),
  ];
}
