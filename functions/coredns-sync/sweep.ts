import type { Context } from '../../lib/function/define.ts';
import { configMaps, type ConfigMap } from '../../lib/kube/resource.ts';

/** Deletes exactly the ConfigMaps that were read. */
export async function drop({ kube }: Pick<Context, 'kube'>, objects: readonly ConfigMap[]): Promise<void> {
  await kube.run({
    steps: objects.map(({ metadata: { namespace = '', name = '', uid = '' } = {} }) => ({
      do: 'delete',
      resource: configMaps,
      namespace,
      name,
      uid,
      why: 'no longer used',
    })),
  });
}
