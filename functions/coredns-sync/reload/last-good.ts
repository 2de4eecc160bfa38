import type { Context } from '../../../lib/function/definition.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { annotated, annotationOf, ownAnnotations, ownerLabels } from '../state/annotation.ts';
import type { Config } from '../config.ts';
import { countRollback } from '../metrics.ts';
import { isMassRemoval } from '../pass/decision.ts';
import { writeConfigMap } from '../../../lib/kube/model/config-map.ts';
import type { Policy } from '../policy.ts';
import { claimedHosts, lastGoodName, ownKeys, shardName, type Shard } from '../shard/shard.ts';
import { readShards, upTo } from '../state/store.ts';
import { drop } from '../state/sweep.ts';

/** Copies rules that CoreDNS has taken, each shard beside itself; what is copied already costs nothing. */
export async function keepLastGood(context: Context<Config>, policy: Policy, shards: readonly Shard[]): Promise<void> {
  const copies = await readLastGood(context, policy, shards.length);
  const steps = shards.flatMap(({ index, object }) =>
    object === undefined ? [] : (writeConfigMap(copies.get(index), copyOf(object, index, policy), 'taken') ?? []),
  );
  await context.kube.run({ steps });
}

function copyOf(object: ConfigMap, index: number, policy: Policy): Parameters<typeof writeConfigMap>[1] {
  const keys = ownKeys(policy, index);
  return {
    namespace: policy.config.COREDNS_NAMESPACE,
    name: lastGoodName(policy, index),
    data: Object.fromEntries(Object.entries(object.data ?? {}).filter(([key]) => keys.includes(key))),
    labels: ownerLabels(policy.config.INSTANCE),
    annotations: ownAnnotations(object),
    obsolete: keys.filter((key) => object.data?.[key] === undefined),
  };
}

/**
 * The copies of all shards. Undefined where nothing was ever proven, and where so many of the hosts that are served would go
 * with the refused rules that DNS is better off with a CoreDNS that goes on with what it has loaded.
 */
export async function findLastGood(
  context: Context<Config>,
  policy: Policy,
  shards: ReadonlyMap<number, Shard>,
): Promise<ReadonlyMap<number, ConfigMap> | undefined> {
  const [first] = (await readLastGood(context, policy, 1)).values();
  const count = Number(annotationOf(first, 'of') ?? 0);
  const copies = await readLastGood(context, policy, count);
  if (first === undefined || copies.size < count) {
    return undefined;
  }
  const kept = new Set([...copies].flatMap(([index, copy]) => claimedHosts(copy, index, policy)));
  const served = new Set([...shards].flatMap(([index, { object }]) => claimedHosts(object, index, policy)));
  const missing = [...served].filter((host) => !kept.has(host));
  return isMassRemoval(missing.length, served.size, policy) ? undefined : copies;
}

interface Restoring {
  readonly copies: ReadonlyMap<number, ConfigMap>;
  readonly shards: ReadonlyMap<number, Shard>;
  /** When it began: who goes on with it writes nothing twice. */
  readonly since: string;
}

/** Puts the copies back. */
export async function restoreLastGood(
  context: Context<Config>,
  policy: Policy,
  { copies, shards, since }: Restoring,
): Promise<void> {
  const further = await readShards(
    context,
    policy,
    [...copies.keys()].filter((index) => !shards.has(index)),
  );
  const present = new Map([...shards, ...further]);
  const steps = [...copies].reverse().flatMap(([index, copy]) => {
    const annotations = { ...ownAnnotations(copy), ...annotated({ 'changed-at': since }) };
    const content = { ...copyOf(copy, index, policy), name: shardName(policy, index), annotations };
    return writeConfigMap(present.get(index)?.object, content, 'CoreDNS refused its successor') ?? [];
  });
  await context.kube.run({ steps });
  await drop(
    context,
    [...shards].flatMap(([index, { object }]) => (copies.has(index) ? [] : (object ?? []))),
  );
  if (steps.length > 0) {
    countRollback(context);
  }
  const about = present.get(0)?.object;
  if (context.config.EMIT_EVENTS && about !== undefined) {
    await tell(context, about, since);
  }
}

async function tell({ kube }: Context<Config>, about: ConfigMap, occasion: string): Promise<void> {
  const note = 'CoreDNS refused to reload with these rules; the last that it took are back';
  await kube.run({ steps: [{ do: 'event', about, type: 'Warning', reason: 'RolledBack', note, occasion }] });
}

export async function readLastGood(
  { kube, config }: Context<Config>,
  policy: Policy,
  count: number,
): Promise<ReadonlyMap<number, ConfigMap>> {
  const found = upTo(count).map(async (index) => {
    const place = { namespace: config.COREDNS_NAMESPACE, name: lastGoodName(policy, index) };
    const object = await kube.get(configMaps, place);
    return object === undefined ? [] : [[index, object] as const];
  });
  return new Map((await Promise.all(found)).flat());
}
