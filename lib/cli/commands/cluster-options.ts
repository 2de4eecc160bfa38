import { standardInstallation } from '../../install/manifests/installation.ts';
import type { Options } from '../framework/command.ts';

/** Of commands that work on an installation in a cluster. */
export const clusterOptions = {
  kubeconfig: {
    value: 'FILE',
    about: 'the cluster (as kubectl: KUBECONFIG, else ~/.kube/config, else the cluster of this pod)',
    complete: 'file',
  },
  namespace: {
    short: 'n',
    value: 'NAMESPACE',
    about: 'where the functions are installed',
    default: standardInstallation.namespace,
  },
} as const satisfies Options;
