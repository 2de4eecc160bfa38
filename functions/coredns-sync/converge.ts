import type { Context } from '../../lib/function/define.ts';
import { Failure } from '../../lib/function/failure.ts';
import type { ConfigMap } from '../../lib/kube/resource.ts';
import { annotationOf } from './annotation.ts';
import { bucketOf, readBucket, writeBucket, type Bucket } from './bucket.ts';
import { ranked } from './claim.ts';
import type { Config } from './config.ts';
import { obstacle, type Dns } from './dns.ts';
import { passConditions } from './integrate.ts';
import { planIntegration } from './integration.ts';
import type { DnsFacts } from './integration/types.ts';
import { memoryOf } from './memory.ts';
import { countDrift, countRefused, countWrites, showConditions, showRules, showSources } from './metrics.ts';
import { decide, isForbidden, sorted, type Decision } from './pass.ts';
import type { WriteStep } from './patch.ts';
import { integrationOptions, type Policy } from './policy.ts';
import { publish } from './publish.ts';
import type { SourceRecord } from './record.ts';
import { reportOutcome } from './report.ts';
import { hostKey, type Host } from './rule.ts';
import { planShard, type ShardPlan } from './shard-plan.ts';
import { isNewer, readShard, shardOf, writeShard, type Shard } from './shard.ts';
import { listAll, type Listed } from './sources/list.ts';
import { blocked, readState, writeState, type Conditions, type Layout, type ReadState } from './state.ts';
import { readBuckets, readShards, upTo } from './store.ts';
import { drop } from './sweep.ts';

/** Objects that one pass tells about; a first pass over a large cluster would write an Event for everything. */
const mostReports = 100;

/** A marker of a process that has not flushed for so long: it is dead, and this pass has done its work. */
const orphanedAfterMs = 60_000;

/**
 * Looks at everything and writes the difference. Reads what it may write first, then the sources; whoever writes a shard after
 * that read makes this pass start over.
 */
export async function converge(context: Context<Config>, policy: Policy, dns: Dns): Promise<Converged> {
  const { kube } = context;
  const state = await readState(context);
  const reach = { ...state.layout, ...state.layout.before };
  const shards = await readShards(context, policy, upTo(Math.max(reach.shards, state.layout.shards)));
  const buckets = await readBuckets(context, upTo(Math.max(reach.buckets, state.layout.buckets)));
  const before = [...shards.values()].flatMap(({ claims = [] }) => claims);
  const { facts } = planIntegration(dns.objects, integrationOptions(policy), before);
  const blocked = blockedBy([...shards.values()], dns, policy);
  if (blocked !== undefined) {
    await conclude(context, { before: state, facts }, { conditions: blocked });
    return { hosts: before, facts };
  }
  const listed = await listAll(kube, policy);
  refuseHalfKnowledge(shards, listed);
  const decision = decide({
    policy,
    state,
    facts,
    shards: [...shards.values()],
    records: recordsOf(buckets),
    listed,
    now: kube.serverTime() ?? context.now(),
  });
  if (decision.writes) {
    await carryOut(context, policy, { state, facts, shards, buckets, listed, decision });
  }
  await conclude(context, { before: state, facts }, decision);
  showRules(context, { ...decision.summary, shards: decision.layout.shards, bytes: decision.bytes });
  showSources(context, countByPlace(listed));
  const [failed] = listed.unread.filter(({ failure }) => !isForbidden(failure));
  if (failed !== undefined) {
    throw new Failure('unavailable', `list ${failed.kind}: ${failed.failure.message}`, { cause: failed.failure });
  }
  return { hosts: decision.claims, facts };
}

/** The hosts that are served now, and what was known of CoreDNS when they were rendered. */
export interface Converged {
  readonly hosts: readonly Host[];
  readonly facts: DnsFacts;
}

/** Somebody else's ConfigMap, one of a release that knows more than we do, or a Corefile that rules would break. */
function blockedBy(shards: readonly Shard[], dns: Dns, policy: Policy): Conditions | undefined {
  const { config } = policy;
  const foreign = shards.find(({ owner }) => owner === 'other');
  if (foreign !== undefined && !config.ADOPT) {
    const name = foreign.object?.metadata?.name ?? '';
    return { Conflict: `ConfigMap ${name} belongs to another manager or instance; ADOPT=true takes it over` };
  }
  if (shards.some(isNewer)) {
    return { NewerRelease: 'the rules were written by a newer release; this one leaves them' };
  }
  const broken = obstacle(dns, policy);
  return broken === undefined ? undefined : { InvalidRender: broken };
}

/** Where a part of the sources can't be read, its claims are those of the shards: a shard without them would lose hosts. */
function refuseHalfKnowledge(shards: ReadonlyMap<number, Shard>, { unread, resourceVersion }: Listed): void {
  const [part] = unread;
  const lost = [...shards.values()].find(({ object, claims }) => object !== undefined && claims === undefined);
  if (part !== undefined && lost !== undefined) {
    throw new Failure('unavailable', `list ${part.kind}: ${part.failure.message}`, { cause: part.failure });
  }
  const newer = [...shards.values()].find(
    ({ object }) =>
      Number(annotationOf(object, 'observed-rv') ?? 0) > Number(resourceVersion) && resourceVersion !== '0',
  );
  if (newer !== undefined) {
    throw new Failure('conflict', 'the rules rest on newer objects than the list has');
  }
}

interface Pass {
  readonly state: ReadState;
  readonly facts: DnsFacts;
  readonly shards: ReadonlyMap<number, Shard>;
  readonly buckets: ReadonlyMap<number, Bucket>;
  readonly listed: Listed;
  readonly decision: Decision;
}

async function carryOut(context: Context<Config>, policy: Policy, pass: Pass): Promise<void> {
  const { state, facts, shards, buckets, decision } = pass;
  const { layout } = decision;
  const moves = layout.shards !== state.layout.shards || layout.buckets !== state.layout.buckets;
  if (moves || !state.known) {
    // First, so that whoever takes over from here knows where rules may be.
    await writeState(context, state, { layout: { ...layout, ...(moves ? { before: state.layout } : {}) } });
  }
  const plans = planAll(policy, pass);
  const steps = shardSteps(context, policy, { pass, plans });
  countRepairs(context, [...shards.values()], steps.length);
  await context.kube.run({ steps });
  countWrites(context, 'rules', steps.length);
  await drop(context, beyond(shards, layout.shards));
  const indexSteps = bucketSteps(context, { buckets, decision });
  await context.kube.run({ steps: indexSteps });
  countWrites(context, 'index', indexSteps.length);
  await drop(context, beyond(buckets, layout.buckets));
  await publish(context, policy, { facts, plan: plans });
  await tell(context, pass);
}

/** Parts that nothing is in any more. */
function beyond(
  parts: ReadonlyMap<number, { readonly object: ConfigMap | undefined }>,
  count: number,
): readonly ConfigMap[] {
  return [...parts].flatMap(([index, { object }]) => (index >= count && object !== undefined ? [object] : []));
}

/** A shard that is not there is an empty one. */
function planAll(policy: Policy, { facts, shards, decision }: Pass): readonly ShardPlan[] {
  const { layout, claims } = decision;
  const parts = Map.groupBy(claims, (claim) => shardOf(hostKey(claim), layout.shards));
  return upTo(layout.shards).map((index) => {
    const shard = shards.get(index) ?? readShard(index, undefined, policy);
    return planShard(shard, parts.get(index) ?? [], { policy, known: { layout, facts } });
  });
}

/** When rules spread out, the new shards come first; when they draw together, the old ones: a host is never in none. */
function shardSteps(
  context: Context<Config>,
  policy: Policy,
  { pass, plans }: { readonly pass: Pass; readonly plans: readonly ShardPlan[] },
): readonly WriteStep[] {
  const stamps = {
    shards: pass.decision.layout.shards,
    changedAt: context.kube.serverTime() ?? context.now(),
    observed: pass.listed.resourceVersion,
  };
  return plans
    .toSorted((left, right) => right.shard.index - left.shard.index)
    .flatMap(({ shard, content }) => writeShard(shard, content, stamps, policy) ?? []);
}

function bucketSteps(
  { namespace, config }: Context<Config>,
  { buckets, decision }: Pick<Pass, 'buckets' | 'decision'>,
): readonly WriteStep[] {
  const { buckets: count } = decision.layout;
  const parts = Map.groupBy(decision.records, ({ source }) => bucketOf(source, count));
  return upTo(count).flatMap((index) => {
    const bucket = buckets.get(index) ?? readBucket(index, undefined);
    const content = { records: parts.get(index) ?? [], buckets: count, namespace, instance: config.INSTANCE };
    return writeBucket(bucket, content) ?? [];
  });
}

/** What somebody edited is drift; what a lost event left behind is counted by the runtime. */
function countRepairs(context: Context<Config>, shards: readonly Shard[], writes: number): void {
  const touched = shards.filter(({ object, claims }) => claims === undefined && object !== undefined);
  if (writes > 0 && touched.length > 0) {
    countDrift(context, touched.some(({ owner }) => owner !== 'ours') ? 'label' : 'rules');
  }
}

async function tell(context: Context<Config>, { buckets, listed, decision }: Pass): Promise<void> {
  const before = recordsOf(buckets);
  const changed = listed.wanted.filter(({ source, record }) => before.get(source)?.digest !== record?.digest);
  const rivals = ranked(decision.claims);
  changed.forEach((wanted) => countRefused(context, wanted));
  await Promise.all(changed.slice(0, mostReports).map((wanted) => reportOutcome(context, wanted, rivals)));
}

/** The state after the pass: what it decided, and no more marks of processes that died owing what is done now. */
async function conclude(
  context: Context<Config>,
  { before, facts }: { readonly before: ReadState; readonly facts: DnsFacts },
  { conditions, ...decided }: Pick<Decision, 'conditions'> & Partial<Decision>,
): Promise<void> {
  const state = await readState(context);
  const kept = Object.entries(state.conditions).filter(([type]) => !passConditions.includes(type));
  const merged = sorted({ ...Object.fromEntries(kept), ...conditions });
  const now = (context.kube.serverTime() ?? context.now()).getTime();
  const owed = Object.entries(state.owed).filter(([, at]) => now - Date.parse(at) < orphanedAfterMs);
  const layout: Layout = decided.writes === true && decided.layout !== undefined ? decided.layout : state.layout;
  const changes = {
    layout,
    conditions: merged,
    owed: Object.fromEntries(owed),
    ...('removal' in decided ? { removal: decided.removal } : {}),
  };
  await writeState(context, state, changes);
  showConditions(context, before.conditions, merged);
  memoryOf(context).known = blocked(merged) ? undefined : { layout, facts };
  if (decided.summary !== undefined) {
    refreshSummary(context, state, decided.summary);
  }
}

/** Behind the pass: the report of a pass that repaired nothing must not look like a repair. */
function refreshSummary(context: Context<Config>, state: ReadState, summary: Decision['summary']): void {
  if (JSON.stringify(state.summary) !== JSON.stringify(summary)) {
    context.later('summary', context.now(), async (later) => writeState(later, await readState(later), { summary }));
  }
}

/** By `Ingress/shop`. */
function countByPlace({ wanted }: Listed): ReadonlyMap<string, number> {
  const places = Map.groupBy(wanted, ({ source }) => source.slice(0, source.lastIndexOf('/')));
  return new Map([...places].map(([place, found]) => [place, found.length]));
}

function recordsOf(buckets: ReadonlyMap<number, Bucket>): ReadonlyMap<string, SourceRecord> {
  return new Map([...buckets.values()].flatMap(({ records }) => [...(records ?? [])]));
}
