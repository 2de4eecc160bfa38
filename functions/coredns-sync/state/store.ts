import type { Context } from '../../../lib/function/definition.ts';
import { configMaps } from '../../../lib/kube/model/resource.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import { bucketName, readBucket, type Bucket } from './bucket.ts';
import type { Config } from '../config.ts';
import type { Policy } from '../policy.ts';
import { readShard, shardName, type Shard } from '../shard/shard.ts';

/** Each read beside others is a connection more, and a large answer in memory as it came. */
const atOnce = 4;

export async function readShards(
  { kube, config }: Context<Config>,
  policy: Policy,
  indices: Iterable<number>,
): Promise<ReadonlyMap<number, Shard>> {
  const read = await inParallel(atOnce, [...new Set(indices)], async (index): Promise<[number, Shard]> => {
    const place = { namespace: config.COREDNS_NAMESPACE, name: shardName(policy, index) };
    return [index, readShard(index, await kube.get(configMaps, place), policy)];
  });
  return new Map(read);
}

export async function readBuckets(
  { kube, namespace, config }: Context<Config>,
  indices: Iterable<number>,
): Promise<ReadonlyMap<number, Bucket>> {
  const read = await inParallel(atOnce, [...new Set(indices)], async (index): Promise<[number, Bucket]> => [
    index,
    readBucket(index, await kube.get(configMaps, { namespace, name: bucketName(index, config) })),
  ]);
  return new Map(read);
}

/** 0 … count - 1. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
