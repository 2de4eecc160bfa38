import type { PartName } from './parts/parts.ts';

const api: readonly PartName[] = ['etcd', 'kube-apiserver'];
const whole: readonly PartName[] = [...api, 'kube-controller-manager', 'kube-scheduler', 'kwok'];

/** The parts that `<suite>.test.ts` starts: a run builds those of the suites it runs, and no others. */
export const suites: Readonly<Record<string, readonly PartName[]>> = {
  admission: api,
  alerts: ['check-rules'],
  cluster: whole,
  contract: whole,
  coredns: ['coredns', 'coredns-1.12', 'coredns-1.10'],
  'coredns-corefile': ['coredns'],
  'coredns-rollback': ['coredns'],
  'coredns-running': ['coredns'],
  'coredns-start': ['coredns'],
  'coredns-sync': [...api, 'coredns', 'receive-adapter'],
  'coredns-sync-faults': [...api, 'coredns'],
  'coredns-sync-million': ['coredns'],
  'coredns-sync-rights': [...api, 'coredns'],
  'coredns-takeover': [...api, 'coredns', 'kubectl'],
  'coredns-texts': ['coredns'],
  delivery: [...api, 'receive-adapter', 'mtping', 'broker-ingress', 'broker-filter'],
  'freeze-admission': api,
  'freeze-check': [...api, 'kube-controller-manager'],
  'freeze-failing': api,
  'freeze-holding': api,
  'freeze-policies': api,
  'freeze-rights': api,
  'istio-rollout': [...whole, 'istiod'],
  'istio-rollout-bounds': [...whole, 'istiod'],
  'istio-rollout-cases': [...whole, 'istiod'],
  'istio-rollout-deaths': [...whole, 'istiod'],
  'istio-rollout-planes': [...whole, 'istiod'],
  'istio-rollout-policy': api,
  'istio-rollout-rest': [...api, 'istiod'],
  'istio-rollout-rights': [...whole, 'istiod'],
  'istio-rollout-timing': [...whole, 'istiod'],
  'istio-rollout-waves': [...whole, 'istiod'],
  leaving: whole,
  'leaving-knative': [...whole, 'eventing-webhook', 'serving-webhook'],
  knative: [...api, 'kubectl', 'receive-adapter', 'broker-ingress', 'broker-filter'],
  manifests: [...api, 'kubectl', 'eventing-webhook', 'serving-webhook'],
  'node-affinity-limits': [],
  'node-affinity-mutate': whole,
  parts: [],
  plain: [...api, 'kubectl', 'kube-controller-manager', 'kube-scheduler'],
  platform: [...api, 'receive-adapter', 'queue-proxy'],
  responses: [...api, 'receive-adapter', 'broker-ingress', 'broker-filter'],
  source: [...api, 'receive-adapter'],
  tables: api,
  tls: api,
};

/** What a suite on a World needs. */
export const worldParts: readonly PartName[] = [...api, 'kube-controller-manager'];
