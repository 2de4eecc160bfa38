import type { Context } from '../../../lib/function/definition.ts';
import { Failure } from '../../../lib/base/failure.ts';
import { observedVersion } from '../state/annotation.ts';
import type { Bucket } from '../state/bucket.ts';
import { carryOut } from './carry-out.ts';
import { conclude, type News } from './conclude.ts';
import type { Config } from '../config.ts';
import { obstacle, type Dns } from '../integration/dns.ts';
import { planIntegration } from '../integration/plan.ts';
import type { DnsFacts } from '../integration/types.ts';
import { showBytes, showSources, showSummary } from '../metrics.ts';
import { decide } from './decision.ts';
import { integrationOptions, type Policy } from '../policy.ts';
import type { SourceRecords } from '../state/record.ts';
import type { Host } from '../rule.ts';
import { isForeign, isNewer, type Shard } from '../shard/shard.ts';
import { logIllegible } from '../sources/illegible.ts';
import { knownFrom } from '../sources/known.ts';
import { listAll, type Listed, type Unread } from '../sources/list.ts';
import { reachOf, readState, type Conditions } from '../state/state.ts';
import { readBuckets, readShards, upTo } from '../state/store.ts';

/** The hosts that are served now, and what was known of CoreDNS when they were rendered. */
export interface Converged {
  readonly hosts: readonly Host[];
  readonly facts: DnsFacts;
  /** Figures that the state does not have yet. */
  readonly news: News | undefined;
  /** Why the pass must be repeated, though it went as far as it could: a list failed. */
  readonly failure?: Failure;
}

/**
 * Looks at everything and writes the difference. Reads what it may write first, then the sources; whoever writes a shard after
 * that read makes this pass start over.
 */
export async function converge(context: Context<Config>, policy: Policy, dns: Dns): Promise<Converged> {
  const { kube } = context;
  const state = await readState(context);
  const reach = reachOf(state);
  const first = await readShards(context, policy, [0]);
  // Without a state that says where rules are, they may be in many places: none is asked for while none may be written.
  const early = state.known ? undefined : blockedBy([...first.values()], dns, policy);
  const others = early === undefined ? upTo(reach.shards).slice(1) : [];
  const shards = new Map([...first, ...(await readShards(context, policy, others))]);
  const buckets = await readBuckets(context, upTo(reach.buckets));
  const before = [...shards.values()].flatMap(({ claims = [] }) => claims);
  const blocked = early ?? blockedBy([...shards.values()], dns, policy);
  if (blocked !== undefined) {
    const news = await conclude(context, state, { conditions: blocked, wrote: false });
    return { hosts: before, facts: factsFor(dns, policy, before), news };
  }
  const records = recordsOf(buckets);
  const listed = await listAll(kube, policy, knownFrom(records, before));
  logIllegible(context, listed.illegible);
  refuseHalfKnowledge(shards, listed, records);
  // Rules must suit the blocks of hosts that go, which are still asked for, and of those that come.
  const facts = factsFor(dns, policy, [...before, ...listed.wanted.flatMap(({ claims }) => claims)]);
  const now = kube.serverTime() ?? context.now();
  const decision = decide({ policy, state, facts, shards: [...shards.values()], records, listed, now });
  const pass = { state, facts, shards, buckets, records, listed, decision };
  const wrote = decision.writes && (await carryOut(context, policy, pass));
  const news = await conclude(context, state, { ...decision, wrote });
  showSummary(context, decision.summary, decision.layout.shards);
  showBytes(context, decision.bytes);
  showSources(context, countByPlace(listed));
  const [failed] = listed.unread.filter(({ because }) => because === 'failed');
  return { hosts: decision.claims, facts, news, ...(failed === undefined ? {} : { failure: unreadable(failed) }) };
}

function factsFor({ objects }: Dns, policy: Policy, hosts: readonly Host[]): DnsFacts {
  return planIntegration(objects, integrationOptions(policy), hosts).facts;
}

/** Somebody else's ConfigMap, one of a release that knows more than we do, or a Corefile that rules would break. */
function blockedBy(shards: readonly Shard[], dns: Dns, policy: Policy): Conditions | undefined {
  const foreign = shards.find((shard) => isForeign(shard, policy));
  if (foreign !== undefined) {
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
function refuseHalfKnowledge(
  shards: ReadonlyMap<number, Shard>,
  { unread, illegible, resourceVersion }: Listed,
  records: SourceRecords,
): void {
  // A kind that is not served and of which nothing is recorded has no claims that could be lost.
  const kinds = new Set([...records.keys()].map((source) => source.slice(0, source.indexOf('/'))));
  const [part] = unread.filter(({ kind, because }) => because !== 'absent' || kinds.has(kind));
  const lost = [...shards.values()].find(({ object, claims }) => object !== undefined && claims === undefined);
  if (part !== undefined && lost !== undefined) {
    throw unreadable(part);
  }
  const odd = illegible.find(({ source }) => records.has(source));
  if (odd !== undefined && lost !== undefined) {
    throw new Failure('unavailable', `make sense of ${odd.source}`, { cause: odd.error });
  }
  const newer = [...shards.values()].find(({ object }) => observedVersion(object) > Number(resourceVersion));
  if (newer !== undefined && resourceVersion !== '0') {
    throw new Failure('conflict', 'the rules rest on newer objects than the list has');
  }
}

function unreadable({ kind, failure }: Unread): Failure {
  return new Failure('unavailable', `list ${kind}: ${failure.message}`, { cause: failure });
}

/** By `Ingress/shop`. */
function countByPlace({ wanted }: Listed): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { source } of wanted) {
    const place = source.slice(0, source.lastIndexOf('/'));
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return counts;
}

function recordsOf(buckets: ReadonlyMap<number, Bucket>): SourceRecords {
  return new Map([...buckets.values()].flatMap(({ records }) => [...(records ?? [])]));
}
