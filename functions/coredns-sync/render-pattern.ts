import { stableHash } from './hash.ts';
import { compareBytes, type Match, type Rule } from './rule.ts';

/** Names of one target that one regular expression matches. */
export interface Group {
  readonly target: string;
  /** RE2: lower case, dots escaped, anchored at both ends. */
  readonly pattern: string;
}

/**
 * CoreDNS refuses patterns of more than 10,000 bytes. Every pattern costs each question a little and the one that matches a
 * little more, so there should be few: with 10,000 hosts, those of 900 bytes were seen to cost three times as much.
 */
const patternBytes = 9_400;

/** A label that a wildcard covers: any but those that start with an underscore, which are never names of web servers. */
const label = '[a-z0-9-][a-z0-9_-]*\\.';

/** Any label at all, of a name that is known to be right. */
export const anyLabel = '[^.]+\\.';

/** What stands before the domain of a rule. */
export const prefixes: Readonly<Record<Match, string>> = { exact: '', label, suffix: `(?:${label})+` };

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
    const names = same.map(({ host }) => nameOf(host)).sort((left, right) => compareBytes(left.host, right.host));
    return cut(names).map((hosts) => ({ target, pattern: pattern(match, hosts) }));
  });
}

interface Name {
  readonly host: string;
  /** Bytes that it takes in a pattern. */
  readonly bytes: number;
  readonly hash: number;
}

/**
 * Cuts sorted names into runs that fit: names of one run begin alike, so that a question for another one fails at its first
 * characters. Each cut is at the name with the least hash around the middle, so that a new host changes one run, or cuts it
 * in two, and seldom anything else.
 */
function cut(names: readonly Name[]): readonly (readonly string[])[] {
  const total = names.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= patternBytes || names.length === 1) {
    return [names.map(({ host }) => host)];
  }
  const third = Math.floor(names.length / 3);
  const middle = names.slice(third, names.length - third);
  const least = middle.reduce((best, name) => (name.hash < best.hash ? name : best));
  const at = Math.max(1, names.indexOf(least, third));
  return [...cut(names.slice(0, at)), ...cut(names.slice(at))];
}

function nameOf(host: string): Name {
  return { host, bytes: host.replaceAll('.', '\\.').length + 1, hash: stableHash(host) };
}

/** Sorted names let Go share their common beginnings. */
function pattern(match: Match, hosts: readonly string[]): string {
  const escaped = hosts.map((host) => host.replaceAll('.', '\\.'));
  const [only = ''] = escaped;
  return `^${prefixes[match]}${escaped.length === 1 ? only : `(?:${escaped.join('|')})`}\\.$`;
}
