import { stableHash } from './hash.ts';
import { compareBytes, type Match, type Rule } from './rule.ts';

/** Names of one target that one regular expression matches. */
export interface Group {
  readonly target: string;
  /** RE2: lower case, dots escaped, anchored at both ends. */
  readonly pattern: string;
}

/**
 * CoreDNS refuses patterns over 10,000 bytes. Far below that, Go compiles an alternative of names to a program that looks
 * at each character of the question once (fewer than 1,000 instructions), which is what makes a group cheap to skip.
 */
const patternBytes = 900;

/** A label that a wildcard covers: any but those that start with an underscore, which are never names of web servers. */
const label = '[a-z0-9-][a-z0-9_-]*\\.';

const prefixes: Readonly<Record<Match, string>> = { exact: '', label, suffix: `(?:${label})+` };

/** The groups in the order in which CoreDNS must try them: exact names, then wildcards from the longest domain to the shortest. */
export function groupRules(rules: readonly Rule[]): readonly Group[] {
  const tiers = Map.groupBy(rules, tierOf);
  return [...tiers.keys()].sort((left, right) => left - right).flatMap((tier) => groupTier(tiers.get(tier) ?? []));
}

/** The pattern of a single rule. */
export function patternOf({ host, match }: Rule): string {
  return pattern(match, [host]);
}

/**
 * Hosts of one tier never overlap, so that targets and groups may come in any order within it. Of two wildcards for one
 * domain that of a single label comes first.
 */
function tierOf({ host, match }: Rule): number {
  const depth = host.split('.').length;
  return match === 'exact' ? -Infinity : -2 * depth + Number(match === 'suffix');
}

function groupTier(rules: readonly Rule[]): readonly Group[] {
  const targets = Map.groupBy(rules, ({ target }) => target);
  return [...targets.keys()].sort(compareBytes).flatMap((target) => {
    const same = targets.get(target) ?? [];
    const match = same[0]?.match ?? 'exact';
    const hosts = same.map(({ host }) => ({ host, hash: stableHash(host) }));
    return split(hosts, 0).map((names) => ({ target, pattern: pattern(match, names) }));
  });
}

interface Hashed {
  readonly host: string;
  readonly hash: number;
}

/** Halves by the bits of a stable hash until every group fits: a new host changes one group, at most splits it in two. */
function split(hosts: readonly Hashed[], bit: number): readonly (readonly string[])[] {
  const fits = hosts.reduce((bytes, { host }) => bytes + host.length + 1, 0) <= patternBytes;
  if (fits || hosts.length === 1) {
    return [hosts.map(({ host }) => host).sort(compareBytes)];
  }
  if (bit === 32) {
    return hosts.map(({ host }) => [host]).sort(([left = ''], [right = '']) => compareBytes(left, right)); // same hash on purpose
  }
  const halves = Map.groupBy(hosts, ({ hash }) => (hash >>> (31 - bit)) & 1);
  return [0, 1].flatMap((half) => {
    const members = halves.get(half);
    return members === undefined ? [] : split(members, bit + 1);
  });
}

/** Sorted names let Go share their common beginnings. */
function pattern(match: Match, hosts: readonly string[]): string {
  const escaped = hosts.map((host) => host.replaceAll('.', '\\.'));
  const [only = ''] = escaped;
  return `^${prefixes[match]}${escaped.length === 1 ? only : `(?:${escaped.join('|')})`}\\.$`;
}
