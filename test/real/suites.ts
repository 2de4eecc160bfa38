import type { PartName } from './parts.ts';

const api: readonly PartName[] = ['etcd', 'kube-apiserver'];
const whole: readonly PartName[] = [...api, 'kube-controller-manager', 'kube-scheduler', 'kwok'];

/** The parts that `<suite>.test.ts` starts: a run builds those of the suites it runs, and no others. */
export const suites: Readonly<Record<string, readonly PartName[]>> = {
  admission: api,
  cluster: whole,
  contract: whole,
  delivery: [...api, 'receive-adapter', 'mtping', 'broker-ingress', 'broker-filter'],
  'istio-rollout-policy': api,
  parts: [],
  platform: [...api, 'receive-adapter', 'queue-proxy'],
  source: [...api, 'receive-adapter'],
  tables: api,
};
