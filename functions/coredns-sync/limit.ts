import type { Known } from './memory.ts';
import type { Policy } from './policy.ts';
import { maySpread } from './rendering.ts';

/** More than this no rules ConfigMap may hold; the rest of a mebibyte is for others' keys. */
export const mostShardBytes = 1_000_000;

/** Beyond it the rules spread over more ConfigMaps, where CoreDNS mounts more; what can't spread may fill one. */
export function shardLimit(policy: Policy, { layout, facts }: Known): number {
  const { MAX_SHARDS, SHARD_BYTES } = policy.config;
  const most = maySpread(policy, facts) ? Math.min(MAX_SHARDS, facts?.shards ?? 1) : 1;
  return layout.shards < most ? SHARD_BYTES : mostShardBytes;
}
