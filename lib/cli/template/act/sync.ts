import type { Context } from '../../../function/definition.ts';
import type { Wake } from '../../../function/triggers.ts';
import type { Config } from '../config.ts';
import { omissions, plan } from '../keys/plan.ts';
import { observe } from '../read/observe.ts';

/** Read what matters, decide, write the difference. */
export async function sync({ kube, namespace, config, conditions }: Context<Config>, wake: Wake): Promise<void> {
  const observed = await observe(kube, namespace, wake);
  await kube.run(plan(observed, config));
  if (wake.tick) {
    conditions.set('KeysOmitted', omissions(observed, config)); // only a tick sees all ConfigMaps
  }
}
