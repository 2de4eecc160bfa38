import type { Environment } from '../../lib/function/config.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import type { Client } from '../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../lib/sandbox/test/contract/scratch.ts';
import { applyManifest } from './manifests.ts';

const rights = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

/** A function and what it shares with others, as if there were no others. */
export function installationOf(definition: Definition, environment: Environment = {}): readonly Manifest[] {
  const { manifests } = renderFunction(definition, standardInstallation, { environment });
  return [...manifests, ...renderShared([definition])];
}

/** Sets up the accounts of a function with the rights that it ships with, or that settings ask for, and nothing else. */
export async function installRights(
  client: Client,
  definition: Definition,
  environment: Environment = {},
): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: standardInstallation.namespace } };
  const granted = installationOf(definition, environment).filter(({ kind }) => rights.has(kind));
  for (const manifest of [namespace, ...granted]) {
    await applyManifest(client, manifest);
  }
}

/** A token of a ServiceAccount, issued by the API server. */
export async function tokenOf(
  client: Client,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = expectCode(201, await client.call('POST', path, { body: { spec: {} } }));
  return (status as { readonly token: string }).token;
}
