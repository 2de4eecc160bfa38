import type { Context } from '../../../../lib/function/definition.ts';
import { overfull } from '../census/hosts.ts';
import { plan } from '../census/plan.ts';
import type { Config } from '../config.ts';
import { observe } from '../read/observe.ts';

/** Read what matters, decide, write the difference. */
export async function sync({ kube, namespace, config, conditions }: Context<Config>): Promise<void> {
  const place = { namespace, name: config.CONFIG_MAP };
  const observed = await observe(kube, place);
  await kube.run(plan(observed, { place, most: config.MAX_HOSTS }));
  conditions.set('CensusFull', overfull(observed.hosts, config.MAX_HOSTS));
}
