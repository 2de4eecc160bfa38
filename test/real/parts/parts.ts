/** A Go module that programs are built from, by go.mod and go.sum in `modules/<product>`, or whose kinds are read. */
export interface Product {
  readonly module: string;
  readonly version: string;
  /** What users call this version, where the module's own name for it says nothing. */
  readonly release?: string;
  /** Version whose `replace` lines must be repeated by whoever builds the module. */
  readonly staging?: string;
  readonly linkFlags?: readonly string[];
  /** Environment of `go get`, where the checksum database does not know a module. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Part {
  readonly product: ProductName;
  /** A package of the product, or a file of `programs/` that is built with it. */
  readonly package: string;
  /** Any release of it serves, so the one on PATH is taken where there is one. */
  readonly anyRelease?: true;
}

const kubernetes = '1.36.3';
const kubernetesVersion = 'k8s.io/component-base/version';
const eventing = 'knative.dev/eventing';
const serving = 'knative.dev/serving';
const istio = 'istio.io/istio';
const coredns = 'github.com/coredns/coredns';

const kube = {
  module: 'k8s.io/kubernetes',
  version: `v${kubernetes}`,
  staging: `v${kubernetes.replace(/^1\./, '0.')}`,
  linkFlags: [
    `-X ${kubernetesVersion}.gitVersion=v${kubernetes}`,
    `-X ${kubernetesVersion}.gitMajor=1`,
    `-X ${kubernetesVersion}.gitMinor=${kubernetes.split('.')[1] ?? ''}`,
    `-X ${kubernetesVersion}.gitTreeState=clean`,
  ],
};

/** The one place where versions of real programs are pinned; `node test/real/parts/pin.ts` carries a change into `modules/`. */
export const products = {
  kube,
  // By module files of its own: a machine that has a kubectl needs none of what only this one reads.
  kubectl: kube,
  etcd: { module: 'go.etcd.io/etcd/server/v3', version: 'v3.7.3' },
  kwok: { module: 'sigs.k8s.io/kwok', version: 'v0.8.0' },
  eventing: { module: eventing, version: 'v0.50.0' },
  serving: { module: serving, version: 'v0.50.0' },
  coredns: { module: coredns, version: 'v1.15.0' },
  'coredns-1.12': { module: coredns, version: 'v1.12.1' },
  'coredns-1.10': { module: coredns, version: 'v1.10.1' },
  istio: {
    module: istio,
    version: 'v0.0.0-20260306174214-6991a379e1fc',
    release: '1.29.1',
    env: { GONOSUMDB: 'github.com/openshift/*' },
  },
  prometheus: { module: 'github.com/prometheus/prometheus', version: 'v0.307.3' },
  // Of these only the kinds are read, to judge manifests by; nothing is built from them.
  'cert-manager': { module: 'github.com/cert-manager/cert-manager', version: 'v1.19.1' },
  'prometheus-operator': { module: 'github.com/prometheus-operator/prometheus-operator', version: 'v0.92.0' },
  'argo-cd': { module: 'github.com/argoproj/argo-cd/v3', version: 'v3.2.0' },
  'flux-kustomize': { module: 'github.com/fluxcd/kustomize-controller', version: 'v1.6.0' },
  'flux-source': { module: 'github.com/fluxcd/source-controller', version: 'v1.7.0' },
} satisfies Record<string, Product>;

export type ProductName = keyof typeof products;

/** Every program, in the order in which their builds profit most from one another. */
export const parts = {
  'kube-apiserver': { product: 'kube', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': { product: 'kube', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  'kube-scheduler': { product: 'kube', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  kubectl: { product: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl', anyRelease: true },
  etcd: { product: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  'receive-adapter': { product: 'eventing', package: `${eventing}/cmd/apiserver_receive_adapter` },
  coredns: { product: 'coredns', package: 'coredns.go' },
  'coredns-1.12': { product: 'coredns-1.12', package: 'coredns.go' },
  'coredns-1.10': { product: 'coredns-1.10', package: 'coredns.go' },
  kwok: { product: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
  mtping: { product: 'eventing', package: `${eventing}/cmd/mtping` },
  'broker-ingress': { product: 'eventing', package: `${eventing}/cmd/broker/ingress` },
  'broker-filter': { product: 'eventing', package: `${eventing}/cmd/broker/filter` },
  'eventing-webhook': { product: 'eventing', package: `${eventing}/cmd/webhook` },
  'imc-dispatcher': { product: 'eventing', package: `${eventing}/cmd/in_memory/channel_dispatcher` },
  'imc-controller': { product: 'eventing', package: `${eventing}/cmd/in_memory/channel_controller` },
  'mt-broker-controller': { product: 'eventing', package: `${eventing}/cmd/mtchannel_broker` },
  'eventing-controller': { product: 'eventing', package: `${eventing}/cmd/controller` },
  'queue-proxy': { product: 'serving', package: `${serving}/cmd/queue` },
  'serving-webhook': { product: 'serving', package: `${serving}/cmd/webhook` },
  istiod: { product: 'istio', package: `${istio}/pilot/cmd/pilot-discovery` },
  // promtool itself takes as long to build as all of Eventing.
  'check-rules': { product: 'prometheus', package: 'check-rules.go' },
  istioctl: { product: 'istio', package: `${istio}/istioctl/cmd/istioctl` },
} satisfies Record<string, Part>;

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as PartName[];

export function isPart(name: string): name is PartName {
  return Object.hasOwn(parts, name);
}

export function productOf(name: PartName): Product {
  return products[parts[name].product];
}

/** The version that people know a part by. */
export function versionOf(name: PartName): string {
  const { release, version } = productOf(name);
  return release ?? version;
}
