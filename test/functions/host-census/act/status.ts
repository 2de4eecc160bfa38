import type { Context, Reply } from '../../../../lib/function/definition.ts';
import { configMaps } from '../../../../lib/kube/model/resource.ts';
import type { Config } from '../config.ts';

/** The hosts of the last census. */
export async function status({ kube, namespace, config }: Context<Config>): Promise<Reply> {
  const census = await kube.get(configMaps, { namespace, name: config.CONFIG_MAP });
  return { body: { hosts: census?.data?.['hosts']?.split('\n').filter((host) => host !== '') ?? [] } };
}
