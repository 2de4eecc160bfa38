import type { Context } from '../../../lib/function/definition.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { annotationOf } from '../state/annotation.ts';
import { bucketOf, readBucket, writeBucket, type Bucket } from '../state/bucket.ts';
import type { Config } from '../config.ts';
import type { DnsFacts } from '../integration/types.ts';
import { countDrift, type Drift } from '../metrics.ts';
import type { Decision } from './decision.ts';
import type { WriteStep } from '../../../lib/kube/model/config-map.ts';
import type { Policy } from '../policy.ts';
import { publish } from './publish.ts';
import type { SourceRecords } from '../state/record.ts';
import { writingRules } from '../refused.ts';
import { writeShard, type Shard } from '../shard/shard.ts';
import type { Listed } from '../sources/list.ts';
import { reachOf, writeState, type ReadState } from '../state/state.ts';
import { upTo } from '../state/store.ts';
import { drop } from '../state/sweep.ts';
import { tell, type Change } from './tell.ts';
import { writeCounted } from './write.ts';

/** What a full pass has read, and what it decided. */
export interface Pass {
  readonly state: ReadState;
  readonly facts: DnsFacts;
  readonly shards: ReadonlyMap<number, Shard>;
  readonly buckets: ReadonlyMap<number, Bucket>;
  readonly records: SourceRecords;
  readonly listed: Listed;
  readonly decision: Decision;
}

/**
 * Writes what a full pass decided: where things will be, the rules, then the index that speaks of them. Answers whether any
 * rules or records differed.
 */
export async function carryOut(context: Context<Config>, policy: Policy, pass: Pass): Promise<boolean> {
  const { state, facts, shards, buckets, decision } = pass;
  const { layout } = decision;
  const stays = state.known && layout.shards === state.layout.shards && layout.buckets === state.layout.buckets;
  const place = stays ? {} : { layout: { ...layout, before: reachOf(state) } };
  // First, so that whoever takes over from here knows where rules may be, and renders them for the same CoreDNS.
  await writeState(context, state, { ...place, facts });
  const steps = shardSteps(context, policy, pass);
  countRepairs(context, pass, steps.length);
  await writingRules(context, async () => {
    await writeCounted(context, 'rules', steps);
    await drop(context, beyond(shards, layout.shards));
  });
  const indexSteps = bucketSteps(context, { buckets, decision });
  await writeCounted(context, 'index', indexSteps);
  await drop(context, beyond(buckets, layout.buckets));
  if (steps.length > 0) {
    await publish(context, policy, { facts, plan: decision.plans }); // what somebody undoes is mended within the budget
  }
  await tell(context, policy, changeOf(pass, context.now()));
  return steps.length + indexSteps.length > 0;
}

/** Parts that nothing is in any more. */
function beyond(
  parts: ReadonlyMap<number, { readonly object: ConfigMap | undefined }>,
  count: number,
): readonly ConfigMap[] {
  return [...parts].flatMap(([index, { object }]) => (index >= count && object !== undefined ? [object] : []));
}

/** When rules spread out, the new shards come first; when they draw together, the old ones: a host is never in none. */
function shardSteps(context: Context<Config>, policy: Policy, { decision, listed, state }: Pass): readonly WriteStep[] {
  const stamps = {
    shards: decision.layout.shards,
    changedAt: context.kube.serverTime() ?? context.now(),
    observed: listed.resourceVersion,
  };
  // Rewriting comes before templates, whatever the order of files: wildcards turn into templates before what they cover does.
  const stays = state.known && decision.layout.shards === state.layout.shards;
  const wildcardsFirst = stays && decision.plans[0]?.content.mode === 'template';
  const falling = decision.plans.toSorted((left, right) => right.shard.index - left.shard.index);
  return (wildcardsFirst ? falling.toReversed() : falling).flatMap(
    ({ shard, content }) => writeShard(shard, content, stamps, policy) ?? [],
  );
}

function bucketSteps(
  { namespace, config }: Context<Config>,
  { buckets, decision }: Pick<Pass, 'buckets' | 'decision'>,
): readonly WriteStep[] {
  const { buckets: count } = decision.layout;
  const parts = Map.groupBy(decision.records, ({ source }) => bucketOf(source, count));
  return upTo(count).flatMap((index) => {
    const bucket = buckets.get(index) ?? readBucket(index, undefined);
    const content = { records: parts.get(index) ?? [], buckets: count, namespace, config };
    return writeBucket(bucket, content) ?? [];
  });
}

/** What somebody edited or took away is drift; what a lost event left behind is counted by the runtime. */
function countRepairs(context: Context<Config>, { state, shards }: Pass, writes: number): void {
  const type = driftIn([...shards.values()], state);
  if (writes > 0 && type !== undefined) {
    countDrift(context, type);
  }
}

function driftIn(shards: readonly Shard[], { known, layout }: ReadState): Drift | undefined {
  const settled = known && layout.before === undefined;
  const foreign = shards.filter(({ object, owner }) => object !== undefined && owner !== 'ours');
  // Where all is settled we wrote it, be there nothing left that says so.
  if (
    foreign.some(
      ({ object, index }) => annotationOf(object, 'content-sha256') !== undefined || (settled && index < layout.shards),
    )
  ) {
    return 'label';
  }
  const lost = shards.some(({ index, object }) => object === undefined && index < layout.shards);
  return (settled && lost) || shards.some(({ edited }) => edited) ? 'rules' : undefined;
}

/** Objects that a full pass tells about: the first one over a large cluster would write an Event for everything. */
const mostTold = 100;

/** What became of the objects that changed. Those that could not be read are as they were. */
function changeOf({ records, shards, listed, decision }: Pass, at: Date): Change {
  const there = new Set(decision.records.map(({ source }) => source));
  return {
    changed: listed.wanted.filter(({ source, record }) => records.get(source)?.digest !== record?.digest),
    gone: [...records.keys()].filter((source) => !there.has(source)),
    before: [...shards.values()].flatMap(({ claims = [] }) => claims),
    after: decision.claims,
    at,
    most: mostTold,
  };
}
