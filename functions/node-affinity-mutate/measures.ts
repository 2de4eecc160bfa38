import type { Context } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { Tally } from '../../lib/function/metrics.ts';
import type { Config } from './config.ts';
import type { Decision } from './decide.ts';
import type { State } from './state.ts';

type Measured = Pick<Context<Config>, 'metrics' | 'memory' | 'now' | 'config'>;

export function countDecision(measured: Measured, { reason, patch }: Decision, dryRun: boolean): void {
  count(measured, { result: patch.length > 0 ? 'mutated' : 'unchanged', reason, dryRun });
}

export function countError(measured: Measured, error: string, dryRun: boolean): void {
  count(measured, { result: 'error', reason: error, dryRun });
}

interface Counted {
  readonly result: 'mutated' | 'unchanged' | 'error';
  readonly reason: string;
  readonly dryRun: boolean;
}

/** Each pod is counted, so labels are looked up once for each combination. */
const tallies = memoryKey(() => new Map<string, Tally>());

function count(measured: Measured, { result, reason, dryRun }: Counted): void {
  const known = measured.memory(tallies);
  const key = `${result} ${reason} ${dryRun ? 'dry' : ''}`;
  let tally = known.get(key);
  if (tally === undefined) {
    const help = 'Pods by what was done with them and why.';
    const counter = measured.metrics.counter('admission_requests_total', help, ['result', 'reason', 'dry_run']);
    tally = counter.with({ result, reason, dry_run: String(dryRun) });
    known.set(key, tally);
  }
  tally.add();
}

/** What is known, in figures. */
export function reportState({ metrics, config }: Measured, { pools, problem, coverage }: State): void {
  const active = metrics.gauge('pool_active', 'Whether pods are sent to the pool.', ['pool']);
  const seen = metrics.gauge('pool_nodes_seen', 'Whether the last look at the pool found a node.', ['pool']);
  active.reset();
  seen.reset();
  for (const [pool, state] of pools) {
    active.set(Number(state.active), { pool });
    seen.set(Number(state.seen), { pool });
  }
  metrics
    .gauge('config_valid', 'Whether the rules in the ConfigMap are the ones in force.')
    .set(Number(problem === undefined));
  if (coverage !== undefined) {
    metrics.gauge('uncovered_pods', 'Running pods that a rule is for and that do not show it.').set(coverage.uncovered);
  }
  if (config.PARITY_METRICS) {
    reportParity(
      metrics,
      [...pools.values()].some(({ active }) => active),
    );
  }
}

/** As dashboards of kim-snatch know it: which of the two modes this cluster is in. */
function reportParity({ inherited }: Measured['metrics'], active: boolean): void {
  inherited.gauge('kim_snatch_shoots_default', 'Whether pods are sent to the pool.').set(Number(active));
  inherited.gauge('kim_snatch_shoots_fallback', 'Whether the pool has no nodes.').set(Number(!active));
}

export function reportStateAge({ metrics, now }: Measured, readAt: Date | undefined): void {
  if (readAt !== undefined) {
    const seconds = (now().getTime() - readAt.getTime()) / 1000;
    metrics.gauge('state_age_seconds', 'How long ago admission last read the state.').set(seconds);
  }
}
