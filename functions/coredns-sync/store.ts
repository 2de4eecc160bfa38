import type { Context } from '../../lib/function/define.ts';
import { configMaps } from '../../lib/kube/resource.ts';
import { bucketName, readBucket, type Bucket } from './bucket.ts';
import type { Config } from './config.ts';
import type { Policy } from './policy.ts';
import { readShard, shardName, type Shard } from './shard.ts';

export async function readShards(
  { kube, config }: Context<Config>,
  policy: Policy,
  indices: Iterable<number>,
): Promise<ReadonlyMap<number, Shard>> {
  const read = [...new Set(indices)].map(async (index): Promise<[number, Shard]> => {
    const place = { namespace: config.COREDNS_NAMESPACE, name: shardName(policy, index) };
    return [index, readShard(index, await kube.get(configMaps, place), policy)];
  });
  return new Map(await Promise.all(read));
}

export async function readBuckets(
  { kube, namespace }: Context<Config>,
  indices: Iterable<number>,
): Promise<ReadonlyMap<number, Bucket>> {
  const read = [...new Set(indices)].map(async (index): Promise<[number, Bucket]> => [
    index,
    readBucket(index, await kube.get(configMaps, { namespace, name: bucketName(index) })),
  ]);
  return new Map(await Promise.all(read));
}

/** 0 … count - 1. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
