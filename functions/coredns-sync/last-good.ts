import type { Context } from '../../lib/function/define.ts';
import { configMaps, type ConfigMap } from '../../lib/kube/resource.ts';
import { annotated, annotationOf, ownAnnotations, ownerLabels } from './annotation.ts';
import type { Config } from './config.ts';
import { countRollback } from './metrics.ts';
import { writeConfigMap } from './patch.ts';
import type { Policy } from './policy.ts';
import { lastGoodName, ownKeys, shardName, type Shard } from './shard.ts';
import type { Layout, ReadState } from './state.ts';
import { upTo } from './store.ts';
import { drop } from './sweep.ts';

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

interface Refused {
  readonly state: ReadState;
  readonly shards: ReadonlyMap<number, Shard>;
  readonly at: Date;
}

/**
 * Puts the copies back, and answers with how rules are spread then; undefined where nothing was ever proven. Whoever dies in the middle has written rules that are
 * not those of the state: the next full pass writes what is wanted, and CoreDNS has one more chance to refuse it.
 */
export async function restoreLastGood(
  context: Context<Config>,
  policy: Policy,
  { state, shards, at }: Refused,
): Promise<Layout | undefined> {
  const { kube, config } = context;
  const [first] = (await readLastGood(context, policy, 1)).values();
  const count = Number(annotationOf(first, 'of') ?? 0);
  const copies = await readLastGood(context, policy, count);
  if (first === undefined || copies.size < count) {
    return undefined;
  }
  const steps = [...copies].reverse().flatMap(([index, copy]) => {
    const annotations = { ...ownAnnotations(copy), ...annotated({ 'changed-at': at.toISOString() }) };
    const content = { ...copyOf(copy, index, policy), name: shardName(policy, index), annotations };
    return writeConfigMap(shards.get(index)?.object, content, 'CoreDNS refused its successor') ?? [];
  });
  await kube.run({ steps });
  await drop(
    context,
    [...shards.values()].flatMap(({ index, object }) => (index < count ? [] : (object ?? []))),
  );
  countRollback(context);
  if (config.EMIT_EVENTS) {
    const note = 'CoreDNS refused to reload with these rules; the last that it took are back';
    const event = {
      do: 'event',
      about: shards.get(0)?.object ?? first,
      type: 'Warning',
      reason: 'RolledBack',
      note,
    } as const;
    await kube.run({ steps: [{ ...event, occasion: at.toISOString() }] });
  }
  return { shards: count, buckets: state.layout.buckets };
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
