import type { Context } from '../../../lib/function/definition.ts';
import { Failure } from '../../../lib/base/failure.ts';
import { bucketOf, writeBucket, type Bucket } from '../state/bucket.ts';
import type { Config } from '../config.ts';
import { passMemory, orphansIn, startFrom, type Known } from '../state/memory.ts';
import { countNoop, showConditions, showSummary } from '../metrics.ts';
import type { Policy } from '../policy.ts';
import { publish } from './publish.ts';
import { hostsIn, type SourceRecord } from '../state/record.ts';
import { writingRules } from '../refused.ts';
import { hostKey } from '../rule.ts';
import { replaceClaims, untilDue, waitMs, type ShardPlan } from '../shard/plan.ts';
import { isNewer, newest, shardOf, writeShard } from '../shard/shard.ts';
import { look, type Looked } from '../sources/look.ts';
import type { SourceRef } from '../sources/ref.ts';
import type { Wanted } from '../sources/wanted.ts';
import { blocked, obstructed, readState, type Layout, type ReadState } from '../state/state.ts';
import { readBuckets, readShards, upTo } from '../state/store.ts';
import { tell } from './tell.ts';
import { writeCounted } from './write.ts';

/**
 * `rebuild`: the index can't be trusted, look at everything. `obstructed`: the same, and it was looked at to no avail. A
 * number: the rules may be written in so many milliseconds.
 */
export type Progress = 'done' | 'rebuild' | 'obstructed' | number;

/**
 * Brings the rules up to date with some objects at the cost of those objects. Reads the index and the objects, then the
 * shards, then the objects once more: what is written rests on sources that are newer than what it replaces. The state comes
 * with them, since another process may have seen another CoreDNS meanwhile and have written rules that suit it.
 */
export async function increment(
  context: Context<Config>,
  policy: Policy,
  refs: readonly SourceRef[],
  { force = false } = {},
): Promise<Progress> {
  const start = await startOf(context, force);
  if (typeof start === 'string') {
    return start;
  }
  const { buckets: count } = start.layout;
  const [buckets, looked] = await Promise.all([
    readBuckets(
      context,
      refs.map(({ key }) => bucketOf(key, count)),
    ),
    look(context, policy, refs),
  ]);
  if ([...buckets.values()].some(({ records, of }) => records === undefined || of !== count)) {
    return 'rebuild';
  }
  const changed = refs.filter(({ key }) => differs(context, looked.get(key), recordIn(buckets, count, key)));
  if (changed.length === 0) {
    countNoop(context);
    return 'done';
  }
  if (changed.some(({ key }) => isVast(recordIn(buckets, count, key)))) {
    const wait = force ? 0 : await untilRebuild(context, policy, start.layout);
    return wait > 0 ? wait : 'rebuild';
  }
  return apply(context, policy, { start, buckets, changed, looked, force });
}

/** A full pass may write any of the rules, and costs so much that no single object may ask for one at every change. */
async function untilRebuild(context: Context<Config>, policy: Policy, { shards: count }: Layout): Promise<number> {
  const shards = await readShards(context, policy, upTo(count));
  const now = context.kube.serverTime() ?? context.now();
  return untilDue([...shards.values()], context.config.MIN_WRITE_INTERVAL_MS, now);
}

/** Where things are, and the state where it had to be read for that. */
interface Start {
  readonly layout: Layout;
  readonly state: ReadState | undefined;
}

interface Work {
  readonly start: Start;
  readonly buckets: ReadonlyMap<number, Bucket>;
  readonly changed: readonly SourceRef[];
  readonly looked: Looked;
  readonly force: boolean;
}

async function apply(context: Context<Config>, policy: Policy, work: Work): Promise<Progress> {
  const { buckets, changed, looked } = work;
  const { layout } = work.start;
  const { shards: count } = layout;
  const { unsettled } = context.memory(passMemory);
  const hosts = changed.flatMap(({ key }) => {
    const record = recordIn(buckets, layout.buckets, key);
    return [
      ...hostsOf(looked.get(key)),
      ...(record === undefined ? [] : hostsIn(record)),
      ...(unsettled.get(key) ?? []),
    ];
  });
  const shards = await readShards(
    context,
    policy,
    hosts.map((host) => shardOf(host, count)),
  );
  if ([...shards.values()].some((shard) => shard.claims === undefined || shard.of !== count || isNewer(shard))) {
    return 'rebuild';
  }
  const [again, state] = await Promise.all([look(context, policy, changed), work.start.state ?? readState(context)]);
  if (!state.known || state.cleaning || blocked(state.conditions)) {
    return 'rebuild';
  }
  const wanted = changed.flatMap(({ key }) => again.get(key) ?? []);
  if (wanted.some((each) => hostsOf(each).some((host) => !shards.has(shardOf(host, count))))) {
    throw new Failure('conflict', 'an object changed while it was looked at');
  }
  const known = { layout, facts: state.facts };
  const plan = replaceClaims(shards.values(), wanted, { policy, known });
  return typeof plan === 'string'
    ? withoutPlan(context, plan, { state, changed })
    : write(context, policy, { ...work, known, looked: again, wanted, plan });
}

/** What a full pass has found not to fit, and said so, costs none again until the tick. */
function withoutPlan(
  context: Context<Config>,
  why: 'rebuild' | 'full',
  { state, changed }: { readonly state: ReadState; readonly changed: readonly SourceRef[] },
): Progress {
  if (why === 'full' && 'Full' in state.conditions && changed.length === 1) {
    countNoop(context);
    return 'done';
  }
  return 'rebuild';
}

interface Writing extends Work {
  readonly known: Known;
  readonly wanted: readonly Wanted[];
  readonly plan: readonly ShardPlan[];
}

async function write(context: Context<Config>, policy: Policy, work: Writing): Promise<Progress> {
  const { kube } = context;
  const { known, wanted, plan, force } = work;
  const now = kube.serverTime() ?? context.now();
  const wait = waitMs(plan, policy, now);
  if (wait > 0 && !force) {
    return wait;
  }
  const { unsettled } = context.memory(passMemory);
  for (const each of wanted) {
    unsettled.set(each.source, new Set([...(unsettled.get(each.source) ?? []), ...hostsOf(each)]));
  }
  const observed = wanted.reduce((version, { about }) => newest(version, about?.metadata?.resourceVersion ?? '0'), '0');
  const stamps = { shards: known.layout.shards, changedAt: now, observed };
  const steps = plan.flatMap(({ shard, content }) => writeShard(shard, content, stamps, policy) ?? []);
  await writingRules(context, () => writeCounted(context, 'rules', steps));
  await publish(context, policy, { facts: known.facts, plan }); // before the records: whoever fails here is asked again
  await writeRecords(context, work);
  for (const { source } of wanted) {
    unsettled.delete(source);
  }
  await tell(context, policy, {
    changed: wanted,
    before: plan.flatMap(({ shard }) => shard.claims ?? []),
    after: plan.flatMap(({ content }) => content.claims),
    at: context.now(),
  });
  return 'done';
}

async function writeRecords(context: Context<Config>, { known, buckets, wanted }: Writing): Promise<void> {
  const { namespace, config } = context;
  const { buckets: count } = known.layout;
  const steps = [...buckets.values()].flatMap((bucket) => {
    const mine = wanted.filter(({ source }) => bucketOf(source, count) === bucket.index);
    const records = new Map(bucket.records);
    mine.forEach(({ source }) => records.delete(source));
    const renewed = [...records.values(), ...mine.flatMap(({ record }) => record ?? [])];
    return writeBucket(bucket, { records: renewed, buckets: count, namespace, config }) ?? [];
  });
  await writeCounted(context, 'index', steps);
}

/** From memory, else from the state. A full pass must come first where nothing is there, or a process died owing. */
async function startOf(context: Context<Config>, force: boolean): Promise<Start | 'rebuild' | 'obstructed'> {
  const memory = context.memory(passMemory);
  if (memory.known !== undefined) {
    return { layout: memory.known, state: undefined };
  }
  const state = await readState(context);
  if (obstructed(state.conditions)) {
    return memory.obstructed && !state.cleaning && !force ? 'obstructed' : 'rebuild';
  }
  if (!isSettled(state) || orphansIn(state.owed, memory, context.kube.serverTime() ?? context.now()).length > 0) {
    return 'rebuild';
  }
  startFrom(memory, state.layout);
  showSummary(context, state.summary, state.layout.shards);
  showConditions(context, {}, state.conditions);
  return { layout: state.layout, state };
}

function isSettled({ known, cleaning, layout }: ReadState): boolean {
  return known && !cleaning && layout.before === undefined;
}

function differs(context: Context<Config>, wanted: Wanted | undefined, record: SourceRecord | undefined): boolean {
  const { unsettled } = context.memory(passMemory);
  return wanted !== undefined && (wanted.record?.digest !== record?.digest || unsettled.has(wanted.source));
}

/** It does not say where the claims of its object are. */
function isVast(record: SourceRecord | undefined): boolean {
  return record !== undefined && record.hosts === undefined;
}

function recordIn(buckets: ReadonlyMap<number, Bucket>, count: number, key: string): SourceRecord | undefined {
  return buckets.get(bucketOf(key, count))?.records?.get(key);
}

function hostsOf(wanted: Wanted | undefined): readonly string[] {
  return (wanted?.claims ?? []).map(hostKey);
}
