import type { Claim } from '../claim.ts';
import { meets } from '../corefile/zone.ts';
import { isCrowded, mostShardBytes, shardLimit } from './limit.ts';
import type { Known } from '../state/memory.ts';
import type { Policy } from '../policy.ts';
import { renderingFor } from '../render/rendering.ts';
import { hostKey } from '../rule.ts';
import {
  bytesOf,
  changesClaims,
  changesRules,
  readShard,
  renderShard,
  shardOf,
  type Shard,
  type ShardContent,
  writtenAt,
} from './shard.ts';
import type { Wanted } from '../sources/wanted.ts';

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

/** All shards of a layout; one that is not there is an empty one. */
export function planShards(shards: readonly Shard[], claims: readonly Claim[], basis: Basis): readonly ShardPlan[] {
  const { shards: count } = basis.known.layout;
  const parts = Map.groupBy(claims, (claim) => shardOf(hostKey(claim), count));
  return Array.from({ length: count }, (_, index) => {
    const shard = shards.find((each) => each.index === index) ?? readShard(index, undefined, basis.policy);
    return planShard(shard, parts.get(index) ?? [], basis);
  });
}

/**
 * Shards with the claims of some objects replaced. `rebuild`: they no longer fit, and there is room in more ConfigMaps, or a
 * block of the Corefile gets its first host, for which it may lack the import and the rules the right form. `full`: they
 * no longer fit, and there is none.
 */
export function replaceClaims(
  shards: Iterable<Shard>,
  changed: readonly Wanted[],
  basis: Basis,
): readonly ShardPlan[] | 'rebuild' | 'full' {
  const { policy, known } = basis;
  const { layout, facts } = known;
  const claimed = changed.flatMap(({ claims }) => claims);
  if (facts?.idle?.some((zone) => claimed.some((claim) => meets(claim, zone))) === true) {
    return 'rebuild';
  }
  const mayGrow = layout.shards < shardLimit(policy, known);
  const sources = new Set(changed.map(({ source }) => source));
  const added = Map.groupBy(claimed, (claim) => shardOf(hostKey(claim), layout.shards));
  const plans: ShardPlan[] = [];
  for (const shard of shards) {
    const kept = (shard.claims ?? []).filter(({ source }) => !sources.has(source));
    const claims = [...kept, ...(added.get(shard.index) ?? [])];
    const plan = planShard(shard, claims, basis);
    if (mayGrow && isCrowded(policy, known, { shards: layout.shards, claims })) {
      return 'rebuild';
    }
    if (bytesOf(plan.content) > mostShardBytes) {
      return 'full';
    }
    plans.push(plan);
  }
  return plans;
}

/** How long until every shard with other rules or claims may be written again: kubelets and watchers see no difference. */
export function waitMs(plans: readonly ShardPlan[], policy: Policy, now: Date): number {
  const changed = plans.filter((plan) => plan.changesRules || changesClaims(plan.shard, plan.content, policy));
  return untilDue(
    changed.map(({ shard }) => shard),
    policy.config.MIN_WRITE_INTERVAL_MS,
    now,
  );
}

/** How long until all of them may be written again, by the clock of the API server. */
export function untilDue(shards: readonly Shard[], intervalMs: number, now: Date): number {
  const due = shards
    .map((shard) => (writtenAt(shard)?.getTime() ?? -Infinity) + intervalMs - now.getTime())
    // A stamp from further in the future than clocks differ is none of ours: it would stop every flush anew.
    .filter((wait) => wait <= 2 * intervalMs);
  return Math.min(Math.max(0, ...due), intervalMs);
}
