import type { Context } from '../../../../lib/function/definition.ts';
import { plan } from '../census/plan.ts';
import type { Config } from '../config.ts';
import { observe } from '../read/observe.ts';

/** Read what matters, decide, write the difference. */
export async function sync({ kube, namespace, config }: Context<Config>): Promise<void> {
  const place = { namespace, name: config.CONFIG_MAP };
  await kube.run(plan(await observe(kube, place), place));
}
