import type { Context, Wake } from '../../lib/function/define.ts';
import { configMaps } from '../../lib/kube/resource.ts';
import type { Config } from './config.ts';
import { rulesInForce } from './knowledge.ts';
import { lookFor, type Look } from './look.ts';
import { stateConfigMap } from './names.ts';
import { plan, poolsOf, withNamespaces, withPools, withRules } from './plan.ts';
import { adopt } from './snapshot.ts';
import { hashOf, readRulesOf, seeNamespaces, seePools } from './sources.ts';
import { readState, type State } from './state.ts';

/** Looks at what the wake is about and writes down what is new, for admission to read. */
export async function sync(context: Context<Config>, wake: Wake): Promise<void> {
  const { kube, namespace, config, now } = context;
  const stored = await kube.get(configMaps, { namespace, name: stateConfigMap });
  const before = readState(stored?.data);
  const look = lookFor(wake, stored !== undefined);
  const rules = look.rules ? await readRulesOf(kube, namespace) : undefined;
  const ruled = rules === undefined ? before : withRules(before, rules.found, hashOf(rulesInForce({}, config)));
  const seen = await seeNamespaces(kube, look.namespaces);
  const { state, skipped } = withNamespaces(ruled, seen, { complete: look.namespaces === 'all', config });
  const pools = await seePools(kube, poolsToSee(state, look, config));
  const after = withPools(state, pools.seen, { config, now: now() });
  const { steps } = plan({ stored, before, rules: rules?.configMap }, after, namespace);
  await kube.run({ steps, skipped });
  adopt(context, after);
  if (pools.failure !== undefined) {
    throw pools.failure;
  }
}

function poolsToSee(state: State, { pools }: Look, config: Config): readonly string[] {
  return poolsOf(state, config).filter((pool) => pools === 'all' || state.pools.get(pool)?.active !== true);
}
