import type { PartName } from './parts.ts';

const api: readonly PartName[] = ['etcd', 'kube-apiserver'];

/** The parts that `<suite>.test.ts` starts: a run builds those of the suites it runs, and no others. */
export const suites: Readonly<Record<string, readonly PartName[]>> = {
  cluster: [...api, 'kube-controller-manager', 'kube-scheduler', 'kwok'],
  contract: [...api, 'kube-controller-manager'],
  parts: [],
  platform: [...api, 'receive-adapter'],
  tables: api,
};
