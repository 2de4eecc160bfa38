import { canonicalQuantity } from '../../../lib/kube/model/quantity.ts';
import type { Pod } from '../../../lib/kube/model/resource.ts';
import type { DriftCheck } from '../config.ts';
import { canonicalJson } from '../../../lib/base/json.ts';

/**
 * Of an injected proxy what may count as drift: an allow-list, since the API server's defaults and other webhooks would
 * otherwise look like drift. Image and revision are always there; other fields whose check is off are absent.
 */
export interface Proxy {
  readonly image: string;
  readonly revision?: string;
  readonly mode?: 'native' | 'regular';
  /** By the name of the container. */
  readonly initImages?: Readonly<Record<string, string>>;
  readonly resources?: string;
  readonly proxyConfig?: string;
  readonly args?: string;
}

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

const proxyName = 'istio-proxy';
const initNames = ['istio-init', 'istio-validation'];

/** The proxy of a pod; an image of literally `auto` was never injected. */
export function proxyOf({ metadata, spec }: Pod, checks: readonly DriftCheck[]): Proxy | undefined {
  const regular = spec?.containers.find(({ name }) => name === proxyName);
  const container = regular ?? spec?.initContainers?.find(({ name }) => name === proxyName);
  if (container?.image === undefined || container.image === 'auto') {
    return undefined;
  }
  const revision = injectedRevision(metadata?.annotations);
  const looks: Readonly<Record<DriftCheck, () => Partial<Proxy>>> = {
    image: () => ({}),
    missing: () => ({}),
    revision: () => ({}),
    mode: () => ({ mode: regular === undefined ? 'native' : 'regular' }),
    initImage: () => ({ initImages: initImagesOf(spec) }),
    resources: () => ({ resources: canonicalJson(resourcesOf(container)) }),
    proxyConfig: () => ({ proxyConfig: canonicalJson(proxyConfigOf(container)) }),
    args: () => ({ args: canonicalJson(container.args ?? []) }),
  };
  const fields: Partial<Proxy>[] = checks.map((check) => looks[check]());
  return Object.assign({ image: container.image, ...(revision === undefined ? {} : { revision }) }, ...fields) as Proxy;
}

/** The revision of the istiod that injected, as it wrote it into the pod. */
export function injectedRevision(annotations: Readonly<Record<string, string>> | undefined): string | undefined {
  const status = annotations?.['sidecar.istio.io/status'];
  return (status === undefined ? undefined : revisionIn(status)) ?? annotations?.['istio.io/rev'];
}

function revisionIn(status: string): string | undefined {
  try {
    const { revision } = JSON.parse(status) as { readonly revision?: unknown };
    return typeof revision === 'string' && revision !== '' ? revision : undefined;
  } catch {
    return undefined;
  }
}

function initImagesOf(spec: Pod['spec']): Record<string, string> {
  const found = (spec?.initContainers ?? []).filter(({ name }) => initNames.includes(name));
  return Object.fromEntries(found.map(({ name, image = '' }) => [name, image]));
}

/** The API server takes what is limited and not requested for a request of as much. */
function resourcesOf({ resources }: Container): object {
  const limits = valuesOf(resources?.limits);
  return { requests: { ...limits, ...valuesOf(resources?.requests) }, limits };
}

function valuesOf(quantities: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(quantities ?? {}).map(([name, text]) => [name, canonicalQuantity(text)]));
}

function proxyConfigOf({ env = [] }: Container): Record<string, unknown> {
  const plain = env.filter(({ value }) => value !== undefined);
  const relevant = plain.filter(({ name }) => name === 'PROXY_CONFIG' || name.startsWith('ISTIO_META_'));
  return Object.fromEntries(
    relevant.map(({ name, value = '' }) => [name, name === 'PROXY_CONFIG' ? parsed(value) : value]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
