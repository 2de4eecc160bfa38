import type { Context } from '../../../lib/function/definition.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';

/** Deletes the ConfigMaps exactly as they were read: what another instance wrote into one meanwhile makes it a conflict. */
export async function drop({ kube }: Pick<Context, 'kube'>, objects: readonly ConfigMap[]): Promise<void> {
  await kube.run({
    steps: objects.map(({ metadata: { namespace = '', name = '', uid = '', resourceVersion = '' } = {} }) => ({
      do: 'delete',
      resource: configMaps,
      namespace,
      name,
      uid,
      resourceVersion,
      why: 'no longer used',
    })),
  });
}
