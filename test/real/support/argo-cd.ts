import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { applyManifest } from '../../support/manifests.ts';
import { moduleManifests } from '../parts/module-files.ts';
import { waitUntil } from '../parts/wait.ts';

export const argoPaths = {
  applications: '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications',
  sets: '/apis/argoproj.io/v1alpha1/namespaces/argocd/applicationsets',
} as const;

/** Makes the kinds of Argo CD, as it ships them, and its namespace. */
export async function installArgoCd(client: Client): Promise<void> {
  await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  for (const manifest of moduleManifests('argo-cd', 'manifests/crds')) {
    if (manifest.kind === 'CustomResourceDefinition') {
      await applyManifest(client, manifest);
    }
  }
  await waitUntil('the kinds of Argo CD are served', async () => {
    const replies = await Promise.all(Object.values(argoPaths).map((path) => client.call('GET', path)));
    return replies.every(({ code }) => code === 200);
  });
}
