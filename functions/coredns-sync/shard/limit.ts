import type { Claim } from '../claim.ts';
import type { Known } from '../state/memory.ts';
import type { Policy } from '../policy.ts';
import { maySpread, modeFor } from '../render/rendering.ts';
import { hostKey } from '../rule.ts';
import { shardOf } from './shard.ts';
import { weightOf } from './weight.ts';

/** More than this no rules ConfigMap may hold; the rest of a mebibyte is for others' keys. */
export const mostShardBytes = 1_000_000;

/** Hashing spreads unevenly, and rules grow: a quarter is left free. */
const headroom = 1.25;

/** How many shards there may be: no more than CoreDNS mounts. Where the volume is gone for the moment, what there is stays. */
export function shardLimit(policy: Policy, { layout, facts }: Known): number {
  if (!maySpread(policy, facts)) {
    return 1;
  }
  const mounted = 2 ** Math.floor(Math.log2(facts?.shards ?? 1));
  return Math.min(policy.config.MAX_SHARDS, facts?.volume === true ? mounted : Math.max(mounted, layout.shards));
}

/** How many shards the claims need, where there may be any number: so many that no shard is crowded by what could spread. */
export function shardsNeeded(policy: Policy, known: Known, claims: readonly Claim[]): number {
  const most = shardLimit(policy, known);
  const { SHARD_BYTES } = policy.config;
  let shards = powerAbove((spreadWeight(policy, known, { shards: 1, claims }) * headroom) / SHARD_BYTES);
  while (shards < most && hasCrowd(policy, known, { shards, claims })) {
    shards *= 2;
  }
  return Math.min(shards, most);
}

function hasCrowd(policy: Policy, known: Known, { shards, claims }: Part): boolean {
  const parts = Map.groupBy(claims, (claim) => shardOf(hostKey(claim), shards));
  return [...parts.values()].some((part) => isCrowded(policy, known, { shards, claims: part }));
}

interface Part {
  readonly shards: number;
  readonly claims: readonly Claim[];
}

/** Wildcards stay together, however many shards there are: they crowd nobody out. */
export function isCrowded(policy: Policy, known: Known, part: Part): boolean {
  return spreadWeight(policy, known, part) > policy.config.SHARD_BYTES;
}

function spreadWeight(policy: Policy, { facts }: Known, { shards, claims }: Part): number {
  const { mode } = modeFor(policy, facts, { shards, hosts: claims });
  return claims.reduce(
    (sum, claim) =>
      claim.match === 'exact' ? sum + weightOf(claim, policy.mappings[claim.mapping]?.target ?? '', mode) : sum,
    0,
  );
}

function powerAbove(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(count, 1)));
}
