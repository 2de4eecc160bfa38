import { kubeconfigAccess, type Access } from '../../lib/kube/access.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';

const { namespace } = standardInstallation;

/** What the account of the function is in a cluster. */
export function accountAccess({ kubeconfig }: Sandbox, name: string): Access {
  const access = kubeconfigAccess(JSON.stringify(kubeconfig));
  return async () => {
    const reach = await access();
    const account = {
      'impersonate-user': `system:serviceaccount:${namespace}:${name}`,
      'impersonate-group': ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    };
    return { ...reach, headers: { ...reach.headers, ...account } };
  };
}
