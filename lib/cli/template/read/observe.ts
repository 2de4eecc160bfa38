import type { Wake } from '../../../function/triggers.ts';
import type { Kube } from '../../../kube/client.ts';
import { configMaps, type ConfigMap } from '../../../kube/model/resource.ts';

/** The ConfigMaps to look at: on a tick all, else those that events named, as they are now. */
export async function observe(kube: Kube, namespace: string, { tick, subjects }: Wake): Promise<readonly ConfigMap[]> {
  if (tick) {
    return observeAll(kube, namespace);
  }
  const named = await Promise.all(subjects.map(({ name }) => kube.get(configMaps, { namespace, name })));
  return named.filter((configMap) => configMap !== undefined);
}

/** Also those without the label: one may have lost it while nobody looked. */
export async function observeAll(kube: Kube, namespace: string): Promise<readonly ConfigMap[]> {
  return (await kube.list(configMaps, { namespace })).items;
}
