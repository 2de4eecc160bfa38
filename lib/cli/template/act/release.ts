import type { Context } from '../../../function/definition.ts';
import { failuresOf } from '../../../kube/run-each.ts';
import type { Config } from '../config.ts';
import { farewell } from '../keys/plan.ts';
import { observeAll } from '../read/observe.ts';

/** Takes the annotations back before the function leaves a cluster. Returns what remains and why. */
export async function release({ kube, namespace }: Context<Config>): Promise<readonly string[]> {
  const failures = await failuresOf(kube, farewell(await observeAll(kube, namespace)));
  return failures.map(({ message }) => message);
}
