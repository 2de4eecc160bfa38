import { createHash } from 'node:crypto';
import { bucketsFor, resized } from './bucket.ts';
import { ranked, type Claim } from './claim.ts';
import type { DnsFacts } from './integration/types.ts';
import { mostShardBytes } from './limit.ts';
import type { Policy } from './policy.ts';
import type { SourceRecord } from './record.ts';
import { maySpread, renderingFor } from './rendering.ts';
import { compareBytes, hostKey } from './rule.ts';
import { estimateBytes, rulesIn, shardOf, type Shard } from './shard.ts';
import type { Listed, Unread } from './sources/list.ts';
import type { Conditions, Layout, State, Summary } from './state.ts';

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
  const kept = before.filter(({ source }) => isUnread(source, listed.unread));
  const wanted = [...listed.wanted.flatMap(({ claims }) => claims), ...kept];
  const brake = removalBrake(seen, new Set(wanted.map(hostKey)));
  const claims = brake.holds ? withMissing(wanted, before) : wanted;
  const records = [
    ...listed.wanted.flatMap(({ record }) => (record === undefined ? [] : [record])),
    ...[...seen.records.values()].filter(({ source }) => isUnread(source, listed.unread)),
  ];
  const bytes = sizeOf(seen, claims);
  const layout = layoutFor(seen, bytes, records);
  const full = largestShard(policy, seen.facts, claims, layout) > mostShardBytes;
  return {
    claims,
    records,
    layout,
    bytes,
    writes: !full && !(brake.holds && shards.some((shard) => shard.claims === undefined)),
    removal: brake.removal,
    conditions: sorted({
      ...unreadConditions(listed.unread),
      ...(brake.holds ? { MassRemoval: brake.message } : {}),
      ...(full
        ? { Full: 'the rules no longer fit into the ConfigMaps that CoreDNS mounts; the last good ones stay' }
        : {}),
    }),
    summary: summaryOf(claims, listed),
  };
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
  const missing = [...served].filter((host) => !asked.has(host)).sort(compareBytes);
  const { MAX_REMOVAL_PERCENT, ALLOW_MASS_REMOVAL } = policy.config;
  const many = missing.length > fewHosts && missing.length * 100 > served.size * MAX_REMOVAL_PERCENT;
  if (!many || ALLOW_MASS_REMOVAL) {
    return { holds: false, removal: undefined, message: '' };
  }
  const digest = createHash('sha256').update(missing.join()).digest('hex').slice(0, 16);
  const agrees = state.removal?.digest === digest;
  const confirmed = agrees && now.getTime() - Date.parse(state.removal.at) >= confirmAfterMs;
  const message = `${missing.length} of ${served.size} hosts would go; a pass a minute from the first must agree, or ALLOW_MASS_REMOVAL=true`;
  return {
    holds: !confirmed,
    removal: confirmed ? undefined : agrees ? state.removal : { digest, at: now.toISOString() },
    message,
  };
}

/** The hosts that a shard serves now; of one that we did not write, those of its exact rules. */
export function hostsIn(shard: Shard, policy: Policy): readonly string[] {
  if (shard.claims !== undefined) {
    return shard.claims.map(hostKey);
  }
  return [...rulesIn(shard.object, shard.index, policy).matchAll(/^\s*rewrite name exact (\S+) \S+$/gm)].map(
    ([, host = '']) => host.replace(/\.$/, ''),
  );
}

function sizeOf({ policy, facts }: Seen, claims: readonly Claim[]): number {
  return estimateBytes(claims, policy, renderingFor(policy, facts, { shards: 1, hosts: claims }));
}

function layoutFor({ policy, facts, state }: Seen, bytes: number, records: readonly SourceRecord[]): Layout {
  const { config } = policy;
  const { layout } = state;
  // Hashing spreads unevenly, and rules grow: a quarter is left free.
  const needed = Math.ceil((bytes * 1.25) / config.SHARD_BYTES);
  return {
    shards: resized(needed, layout.shards, mostShards(policy, facts, layout)),
    buckets: bucketsFor(records, layout.buckets),
  };
}

/** No shard that CoreDNS does not mount. Where the volume is gone for the moment, what there is stays. */
function mostShards(policy: Policy, facts: DnsFacts | undefined, layout: Layout): number {
  if (!maySpread(policy, facts)) {
    return 1;
  }
  const mounted = 2 ** Math.floor(Math.log2(facts?.shards ?? 1));
  return Math.min(policy.config.MAX_SHARDS, facts?.volume === true ? mounted : Math.max(mounted, layout.shards));
}

function largestShard(
  policy: Policy,
  facts: DnsFacts | undefined,
  claims: readonly Claim[],
  { shards }: Layout,
): number {
  const parts = Map.groupBy(claims, (claim) => shardOf(hostKey(claim), shards));
  const sizes = [...parts.values()].map((part) =>
    estimateBytes(part, policy, renderingFor(policy, facts, { shards, hosts: part })),
  );
  return Math.max(0, ...sizes);
}

function unreadConditions(unread: readonly Unread[]): Conditions {
  const messages = Map.groupBy(unread, ({ failure }) => (isForbidden(failure) ? 'Forbidden' : 'Unreadable'));
  return Object.fromEntries(
    [...messages].map(([type, parts]) => [
      type,
      parts
        .map(({ kind, namespace = 'all namespaces', failure }) => `${kind} in ${namespace}: ${failure.message}`)
        .join('; '),
    ]),
  );
}

export function isForbidden(failure: Unread['failure']): boolean {
  return 'code' in failure && failure.code === 403;
}

/** So many hosts with rivals are named. */
const shownRivals = 50;

function summaryOf(claims: readonly Claim[], { wanted }: Listed): Summary {
  const hosts = ranked(claims);
  const contested = [...hosts].filter(([, rivals]) => rivals.length > 1);
  return {
    hosts: hosts.size,
    losing: claims.length - hosts.size,
    refused: wanted.reduce((sum, { refused }) => sum + refused.length, 0),
    contested: contested
      .sort(([left], [right]) => compareBytes(left, right))
      .slice(0, shownRivals)
      .map(([host, rivals]) => `${host}: ${rivals.map(({ source }) => source).join(' > ')}`),
  };
}

export function sorted(conditions: Conditions): Conditions {
  return Object.fromEntries(Object.entries(conditions).sort(([left], [right]) => compareBytes(left, right)));
}
