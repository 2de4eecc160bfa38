import { digest } from '../../../lib/base/digest.ts';
import { bucketsFor, resized } from '../state/bucket.ts';
import { ranked, type Claim } from '../claim.ts';
import type { DnsFacts } from '../integration/types.ts';
import { mostShardBytes, shardLimit, shardsNeeded } from '../shard/limit.ts';
import type { Policy } from '../policy.ts';
import type { SourceRecord } from '../state/record.ts';
import { rulesDigest } from '../reload/reload.ts';
import type { Files } from '../render/render.ts';
import { compareText } from '../../../lib/base/order.ts';
import { hostKey } from '../rule.ts';
import { planShards, type ShardPlan } from '../shard/plan.ts';
import { bytesOf, claimedHosts, rulesIn, type Shard } from '../shard/shard.ts';
import { mostNamed } from '../sources/illegible.ts';
import type { Listed, Unread } from '../sources/list.ts';
import type { Conditions, Layout, State, Summary } from '../state/state.ts';

/** All that a full pass has seen. */
export interface Seen {
  readonly policy: Policy;
  readonly state: State;
  readonly facts: DnsFacts | undefined;
  readonly shards: readonly Shard[];
  readonly records: ReadonlyMap<string, SourceRecord>;
  readonly listed: Listed;
  readonly now: Date;
}

/** What it makes of that. */
export interface Decision {
  readonly claims: readonly Claim[];
  readonly records: readonly SourceRecord[];
  readonly layout: Layout;
  readonly plans: readonly ShardPlan[];
  /** Size of all rules with their claims. */
  readonly bytes: number;
  readonly conditions: Conditions;
  readonly removal: State['removal'];
  /** False when the rules must stay as they are. */
  readonly writes: boolean;
  readonly summary: Summary;
}

/** A removal of many hosts must be confirmed by a pass that is at least so much later. */
const confirmAfterMs = 60_000;
/** Fewer hosts than this may always go. */
const fewHosts = 10;

/** Pure: the same lists and the same state give the same rules. */
export function decide(seen: Seen): Decision {
  const { policy, listed, shards } = seen;
  const before = shards.flatMap(({ claims = [] }) => claims);
  const odd = new Set(listed.illegible.map(({ source }) => source));
  function staysAsItWas({ source }: { readonly source: string }): boolean {
    return odd.has(source) || isUnread(source, listed.unread);
  }
  const kept = before.filter(staysAsItWas);
  const wanted = [...listed.wanted.flatMap(({ claims }) => claims), ...kept];
  const brake = removalBrake(seen, new Set(wanted.map(hostKey)));
  const claims = brake.holds ? withMissing(wanted, before) : wanted;
  const records = [
    ...listed.wanted.flatMap(({ record }) => (record === undefined ? [] : [record])),
    ...[...seen.records.values()].filter(staysAsItWas),
  ];
  const layout = layoutFor(seen, claims, records);
  const plans = planShards(shards, claims, { policy, known: { layout, facts: seen.facts } });
  const sizes = plans.map(({ content }) => bytesOf(content));
  const full = sizes.some((bytes) => bytes > mostShardBytes);
  const refused = isRefused(seen, plans);
  return {
    claims,
    records,
    layout,
    plans,
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    writes: !full && !refused && !(brake.holds && shards.some((shard) => shard.claims === undefined)),
    removal: brake.removal,
    conditions: sorted({
      ...unreadConditions(listed),
      ...(brake.holds ? { MassRemoval: brake.message } : {}),
      ...(full
        ? { Full: 'the rules no longer fit into the ConfigMaps that CoreDNS mounts; the last good ones stay' }
        : {}),
      ...(refused
        ? { RolledBack: 'CoreDNS refused these rules; the last that it took stay until others are wanted' }
        : {}),
      ...unsoundCondition(plans),
    }),
    summary: summaryOf(claims, listed),
  };
}

/** With VERIFY_RELOAD: are these the very rules that CoreDNS would not take? */
function isRefused({ policy, state }: Seen, plans: readonly ShardPlan[]): boolean {
  const refused = policy.config.VERIFY_RELOAD ? state.reload?.refused : undefined;
  return refused !== undefined && refused === rulesDigest(plans.map(filesOf));
}

function filesOf({ shard, content }: ShardPlan): readonly [number, Files] {
  return [shard.index, { [content.key]: content.rules, ...content.data }];
}

/** Whatever slips through the checks of hosts is stopped by that of the rendering, and then somebody should look. */
function unsoundCondition(plans: readonly ShardPlan[]): Conditions {
  const hosts = plans.reduce((sum, { content }) => sum + content.unsound, 0);
  return hosts === 0
    ? {}
    : { Unsound: `${hosts} hosts are left out: their rules fail the check of what may be written` };
}

function isUnread(source: string, unread: readonly Unread[]): boolean {
  return unread.some(({ kind, namespace }) =>
    source.startsWith(namespace === undefined ? `${kind}/` : `${kind}/${namespace}/`),
  );
}

/** The claims of hosts that nobody asks for any more, while their removal waits. */
function withMissing(wanted: readonly Claim[], before: readonly Claim[]): readonly Claim[] {
  const asked = new Set(wanted.map(hostKey));
  return [...wanted, ...before.filter((claim) => !asked.has(hostKey(claim)))];
}

interface Brake {
  readonly holds: boolean;
  readonly removal: State['removal'];
  readonly message: string;
}

/** An API server that answers with an empty list must not empty the rules: that has to be seen twice. */
function removalBrake({ policy, state, shards, now }: Seen, asked: ReadonlySet<string>): Brake {
  const served = new Set(shards.flatMap((shard) => hostsIn(shard, policy)));
  const missing = [...served].filter((host) => !asked.has(host)).sort(compareText);
  if (!isMassRemoval(missing.length, served.size, policy)) {
    return { holds: false, removal: undefined, message: '' };
  }
  const missingDigest = digest(missing.join(), 16);
  const agrees = state.removal?.digest === missingDigest;
  const confirmed = agrees && now.getTime() - Date.parse(state.removal.at) >= confirmAfterMs;
  const message = `${missing.length} of ${served.size} hosts would go; a pass a minute from the first must agree, or ALLOW_MASS_REMOVAL=true`;
  return {
    holds: !confirmed,
    removal: confirmed ? undefined : agrees ? state.removal : { digest: missingDigest, at: now.toISOString() },
    message,
  };
}

/** So many of the hosts that are served may not go without further ado. */
export function isMassRemoval(missing: number, served: number, { config }: Policy): boolean {
  const many = missing > fewHosts && missing * 100 > served * config.MAX_REMOVAL_PERCENT;
  return many && !config.ALLOW_MASS_REMOVAL;
}

/**
 * The hosts that a shard serves now. Claims of other settings or of another release name them too, however the rules are
 * written; of a shard without any, which we did not write, those of its exact rules.
 */
export function hostsIn(shard: Shard, policy: Policy): readonly string[] {
  if (shard.claims !== undefined) {
    return shard.claims.map(hostKey);
  }
  const claimed = claimedHosts(shard.object, shard.index, policy);
  if (claimed.length > 0) {
    return claimed;
  }
  return [...rulesIn(shard.object, shard.index, policy).matchAll(/^\s*rewrite name exact (\S+) \S+$/gm)].map(
    ([, host = '']) => host.replace(/\.$/, ''),
  );
}

function layoutFor({ policy, facts, state }: Seen, claims: readonly Claim[], records: readonly SourceRecord[]): Layout {
  const { layout } = state;
  const known = { layout, facts };
  return {
    shards: resized(shardsNeeded(policy, known, claims), layout.shards, shardLimit(policy, known)),
    buckets: bucketsFor(records, layout.buckets),
  };
}

function unreadConditions({ unread, gone, illegible }: Listed): Conditions {
  const parts = [
    ...gone.map(({ kind, failure }) => ['KindAbsent', `${kind}: ${failure.message}`] as const),
    ...unread.map(
      ({ kind, namespace = 'all namespaces', failure, because }) =>
        [unreadTypes[because], `${kind} in ${namespace}: ${failure.message}`] as const,
    ),
    ...illegible
      .slice(0, mostNamed)
      .map(({ source, error }) => ['Unreadable', `${source}: ${errorName(error)}`] as const),
    ...(illegible.length > mostNamed ? [['Unreadable', `${illegible.length - mostNamed} objects more`] as const] : []),
  ];
  const messages = Map.groupBy(parts, ([type]) => type);
  return Object.fromEntries([...messages].map(([type, same]) => [type, same.map(([, text]) => text).join('; ')]));
}

/** What it says may quote the object. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unexpected error';
}

const unreadTypes: Readonly<Record<Unread['because'], string>> = {
  forbidden: 'Forbidden',
  absent: 'KindAbsent',
  failed: 'Unreadable',
};

/** So many hosts with rivals are named, and so many of their objects: every event reads the state. */
const shownHosts = 50;
const shownRivals = 4;

function summaryOf(claims: readonly Claim[], { wanted }: Listed): Summary {
  const hosts = new Set<string>();
  const shared = new Set<string>();
  for (const key of claims.map(hostKey)) {
    (hosts.has(key) ? shared : hosts).add(key);
  }
  const contested = [...ranked(claims.filter((claim) => shared.has(hostKey(claim))))];
  return {
    hosts: hosts.size,
    losing: claims.length - hosts.size,
    refused: wanted.reduce((sum, { refused }) => sum + refused.length, 0),
    contested: contested
      .sort(([left], [right]) => compareText(left, right))
      .slice(0, shownHosts)
      .map(([host, rivals]) => `${host}: ${namesOf(rivals)}`),
  };
}

function namesOf(rivals: readonly Claim[]): string {
  const named = rivals.slice(0, shownRivals).map(({ source }) => source);
  const more = rivals.length - named.length;
  return `${named.join(' > ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function sorted(conditions: Conditions): Conditions {
  return Object.fromEntries(Object.entries(conditions).sort(([left], [right]) => compareText(left, right)));
}
