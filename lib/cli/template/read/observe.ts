import type { Wake } from '../../../function/triggers.ts';
import type { Kube } from '../../../kube/client.ts';
import { configMaps, type ConfigMap } from '../../../kube/model/resource.ts';
import { formatSelector, requirements } from '../../../kube/model/selector.ts';
import { selector } from '../keys/plan.ts';

/** The ConfigMaps to look at: on a tick all that ask for it, else those that events named, as they are now. */
export async function observe(kube: Kube, namespace: string, { tick, subjects }: Wake): Promise<readonly ConfigMap[]> {
  if (tick) {
    const { items } = await kube.list(configMaps, { namespace, labelSelector: formatSelector(requirements(selector)) });
    return items;
  }
  const named = await Promise.all(subjects.map(({ name }) => kube.get(configMaps, { namespace, name })));
  return named.filter((configMap) => configMap !== undefined);
}
