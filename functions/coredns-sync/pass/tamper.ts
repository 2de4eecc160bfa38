import type { Context } from '../../../lib/function/definition.ts';
import type { Wake } from '../../../lib/function/triggers.ts';
import type { Config } from '../config.ts';
import { policyOf } from '../policy.ts';
import { untilDue } from '../shard/plan.ts';
import { changedAt, isForeign, isNewer, shardName, type Shard } from '../shard/shard.ts';
import { obstructed, readState } from '../state/state.ts';
import { readShards, upTo } from '../state/store.ts';
import { lookAgainIn } from './sync.ts';

/**
 * A rules ConfigMap changed. Mostly it was us: then its hash says so and nothing more is read. Whatever somebody else made of
 * it is undone, no sooner than rules may be written again, and what is gone comes back at once.
 */
export async function checkRules(context: Context<Config>, { subjects }: Wake): Promise<void> {
  const policy = policyOf(context.config);
  const names = new Set(subjects.map(({ name }) => name));
  const indices = upTo(context.config.MAX_SHARDS).filter((index) => names.has(shardName(policy, index)));
  const shards = await readShards(context, policy, indices);
  const suspects = [...shards.values()].filter(({ claims }) => claims === undefined);
  if (suspects.length === 0) {
    return;
  }
  const { layout, cleaning, conditions } = await readState(context);
  // Whoever owns them may write them as often as he likes.
  const known = obstructed(conditions) && suspects.every((shard) => isForeign(shard, policy) || isNewer(shard));
  if (!cleaning && !known && suspects.some(({ index }) => index < layout.shards)) {
    await lookAgainIn(context, untilMended(context, suspects));
  }
}

/** Who takes the stamp away, by which it is known when they were last written, gains nothing by that. */
function untilMended({ kube, config, now }: Context<Config>, suspects: readonly Shard[]): number {
  const interval = config.MIN_WRITE_INTERVAL_MS;
  const unstamped = suspects.some((shard) => shard.object !== undefined && changedAt(shard) === undefined);
  return unstamped ? interval : untilDue(suspects, interval, kube.serverTime() ?? now());
}
