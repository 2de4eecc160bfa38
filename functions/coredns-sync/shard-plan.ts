import type { Claim } from './claim.ts';
import { shardLimit } from './limit.ts';
import type { Known } from './memory.ts';
import type { Policy } from './policy.ts';
import { renderingFor } from './rendering.ts';
import { hostKey } from './rule.ts';
import { bytesOf, changedAt, changesRules, renderShard, shardOf, type Shard, type ShardContent } from './shard.ts';
import type { Wanted } from './sources/wanted.ts';

/** What a shard is and should be. */
export interface ShardPlan {
  readonly shard: Shard;
  readonly content: ShardContent;
  /** CoreDNS gets other rules by it. */
  readonly changesRules: boolean;
}

interface Basis {
  readonly policy: Policy;
  readonly known: Known;
}

export function planShard(shard: Shard, claims: readonly Claim[], { policy, known }: Basis): ShardPlan {
  const rendering = renderingFor(policy, known.facts, { shards: known.layout.shards, hosts: claims });
  const content = renderShard(shard.index, claims, policy, rendering);
  return { shard, content, changesRules: changesRules(shard, content, policy) };
}

/** Shards with the claims of some objects replaced. `crowded`: they no longer fit, and there is room in more ConfigMaps. */
export function replaceClaims(
  shards: Iterable<Shard>,
  changed: readonly Wanted[],
  basis: Basis,
): readonly ShardPlan[] | 'crowded' {
  const { layout } = basis.known;
  const sources = new Set(changed.map(({ source }) => source));
  const added = Map.groupBy(
    changed.flatMap(({ claims }) => claims),
    (claim) => shardOf(hostKey(claim), layout.shards),
  );
  const plans: ShardPlan[] = [];
  for (const shard of shards) {
    const kept = (shard.claims ?? []).filter(({ source }) => !sources.has(source));
    const plan = planShard(shard, [...kept, ...(added.get(shard.index) ?? [])], basis);
    if (bytesOf(plan.content) > shardLimit(basis.policy, basis.known)) {
      return 'crowded';
    }
    plans.push(plan);
  }
  return plans;
}

/** How long until every shard with other rules may be written again, by the clock of the API server. */
export function waitMs(plans: readonly ShardPlan[], intervalMs: number, now: Date): number {
  const due = plans
    .filter((plan) => plan.changesRules)
    .map(({ shard }) => (changedAt(shard)?.getTime() ?? -Infinity) + intervalMs - now.getTime());
  // A stamp from the future is none of ours: it must not stop anything for longer than an interval.
  return Math.min(Math.max(0, ...due), intervalMs);
}
