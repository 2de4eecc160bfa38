import type { Kube } from '../../../../lib/kube/client.ts';
import { configMaps, ingresses } from '../../../../lib/kube/model/resource.ts';
import { hostsOf } from '../census/hosts.ts';
import type { Observed } from '../census/plan.ts';

/** The census first, then what it is made of: whoever changes the census after this read wins, and we look again. */
export async function observe(
  kube: Kube,
  place: { readonly namespace: string; readonly name: string },
): Promise<Observed> {
  const census = await kube.get(configMaps, place);
  const { items } = await kube.pick(ingresses, {}, hostsOf);
  return { census, hosts: items.flat() };
}
