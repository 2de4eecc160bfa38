import type { Context } from '../../lib/function/definition.ts';
import type { Wake } from '../../lib/function/triggers.ts';
import type { Failure } from '../../lib/base/failure.ts';
import { configMaps, mutatingWebhooks, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { Refusal } from '../../lib/kube/refusal.ts';
import type { Config } from './config.ts';
import { know, rulesInForce } from './knowledge.ts';
import { lookFor, type Look } from './look.ts';
import { stateConfigMap } from './names.ts';
import { planPolicy } from './plan-policy.ts';
import { planWebhook } from './plan-webhook.ts';
import { plan, poolsOf, withNamespaces, withPools, withRules } from './plan.ts';
import { renderPolicy } from './render-policy.ts';
import { adopt } from './snapshot.ts';
import { hashOf, readRulesOf, seeCoverage, seeNamespaces, seePolicy, seePools } from './sources.ts';
import { emptyState, readState, type State } from './state.ts';

/** Looks at what the wake is about and writes down what is new, for admission to read. */
export async function sync(context: Context<Config>, wake: Wake): Promise<void> {
  const { kube, namespace } = context;
  const stored = await kube.get(configMaps, { namespace, name: stateConfigMap });
  const before = readState(stored?.data);
  const isKnown = stored !== undefined && before !== emptyState;
  const { after, rules, skipped, failure } = await lookAround(context, before, lookFor(wake, isKnown));
  const { steps } = plan({ stored, before, rules }, after, namespace);
  await kube.run({ steps, skipped });
  adopt(context, after);
  await keepWebhook(context, after);
  await keepPolicy(context, after);
  if (failure !== undefined) {
    throw failure;
  }
}

interface Found {
  readonly after: State;
  /** What operators wrote, if it was read. */
  readonly rules: ConfigMap | undefined;
  readonly skipped: readonly string[];
  /** Why some pools could not be looked at. */
  readonly failure: Failure | undefined;
}

async function lookAround(context: Context<Config>, before: State, look: Look): Promise<Found> {
  const { kube, namespace, config, now } = context;
  const rules = look.rules ? await readRulesOf(kube, namespace) : undefined;
  const ruled = rules === undefined ? before : withRules(before, rules.found, hashOf(rulesInForce({}, config)));
  const seen = await seeNamespaces(kube, look.namespaces);
  const { state, known, skipped } = withNamespaces(ruled, seen, { complete: look.namespaces === 'all', config });
  const pools = await seePools(kube, poolsToSee(state, look, config));
  const pooled = withPools(state, pools.seen, { config, now: now() });
  const after = await withCoverage(context, pooled, { look, namespaces: known });
  return { after, rules: rules?.configMap, skipped, failure: pools.failure };
}

function poolsToSee(state: State, { pools }: Look, config: Config): readonly string[] {
  return poolsOf(state, config).filter((pool) => pools === 'all' || state.pools.get(pool)?.active !== true);
}

/** @param namespaces all of them: no API server has checked whether the namespace of a running pod is managed */
async function withCoverage(
  context: Context<Config>,
  state: State,
  { look, namespaces }: { readonly look: Look; readonly namespaces: State['namespaces'] },
): Promise<State> {
  const { kube, config } = context;
  const { coverage: known, ...rest } = state;
  if (!config.COVERAGE) {
    return rest;
  }
  if (!look.coverage) {
    return known === undefined ? rest : { ...rest, coverage: known };
  }
  return { ...rest, coverage: await seeCoverage(kube, know({ ...state, namespaces }, config, context)) };
}

async function keepWebhook({ kube, config, namespace }: Context<Config>, state: State): Promise<void> {
  if (config.MANAGE_WEBHOOK === 'full') {
    const configuration = await kube.get(mutatingWebhooks, { name: config.WEBHOOK_CONFIG_NAME });
    await kube.run(planWebhook(configuration, state, { config, namespace }));
  }
}

async function keepPolicy({ kube, config, namespace, log }: Context<Config>, state: State): Promise<void> {
  if (!config.POLICY) {
    return;
  }
  try {
    await kube.run(planPolicy(await seePolicy(kube), renderPolicy(state, config, namespace)));
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 404)) {
      throw error;
    }
    log.warn('this cluster serves no MutatingAdmissionPolicy of v1, which came with Kubernetes 1.36');
  }
}
