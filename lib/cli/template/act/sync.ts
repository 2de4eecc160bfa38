import type { Context } from '../../../function/definition.ts';
import type { Wake } from '../../../function/triggers.ts';
import { runEach } from '../../../kube/run-each.ts';
import type { Config } from '../config.ts';
import { omissions, plan } from '../keys/plan.ts';
import { observe } from '../read/observe.ts';

/** Read what matters, decide, write the difference. */
export async function sync({ kube, namespace, config, conditions }: Context<Config>, wake: Wake): Promise<void> {
  const observed = await observe(kube, namespace, wake);
  await runEach(kube, plan(observed, config)); // one ConfigMap that can't be written does not stop the others
  if (wake.tick) {
    conditions.set('KeysOmitted', omissions(observed, config)); // only a tick sees all ConfigMaps
  }
}
