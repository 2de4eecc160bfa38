import type { PartName } from './parts.ts';

const api: readonly PartName[] = ['etcd', 'kube-apiserver'];
const whole: readonly PartName[] = [...api, 'kube-controller-manager', 'kube-scheduler', 'kwok'];

/** The parts that `<suite>.test.ts` starts: a run builds those of the suites it runs, and no others. */
export const suites: Readonly<Record<string, readonly PartName[]>> = {
  admission: api,
  cluster: whole,
  contract: whole,
  coredns: ['coredns', 'coredns-1.12', 'coredns-1.10'],
  'coredns-corefile': ['coredns'],
  'coredns-rollback': ['coredns'],
  'coredns-running': ['coredns'],
  'coredns-start': ['coredns'],
  'coredns-sync': [...api, 'receive-adapter'],
  'coredns-sync-faults': api,
  'coredns-sync-million': [],
  'coredns-takeover': ['coredns'],
  delivery: [...api, 'receive-adapter', 'mtping', 'broker-ingress', 'broker-filter'],
  'freeze-check': [...api, 'kube-controller-manager'],
  'freeze-failing': api,
  'freeze-holding': api,
  'istio-rollout': [...whole, 'istiod'],
  'istio-rollout-cases': whole,
  'istio-rollout-policy': api,
  'istio-rollout-waves': whole,
  leaving: whole,
  knative: [...api, 'receive-adapter', 'broker-ingress', 'broker-filter'],
  manifests: [...api, 'eventing-webhook', 'serving-webhook', 'check-rules'],
  'node-affinity-limits': [],
  'node-affinity-million': [],
  'node-affinity-mutate': whole,
  parts: [],
  plain: api,
  platform: [...api, 'receive-adapter', 'queue-proxy'],
  responses: [...api, 'receive-adapter', 'broker-ingress', 'broker-filter'],
  source: [...api, 'receive-adapter'],
  tables: api,
  tls: api,
};
