import { stableHash } from '../hash.ts';
import { compareText } from '../../../lib/base/order.ts';
import type { Match, Rule } from '../rule.ts';

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
  return [...targets.keys()].sort(compareText).flatMap((target) => {
    const same = targets.get(target) ?? [];
    const match = same[0]?.match ?? 'exact';
    const names = same.map(({ host }) => nameOf(host)).sort((left, right) => compareText(left.host, right.host));
    return byDomain(names)
      .flatMap(cut)
      .map((hosts) => ({ target, pattern: pattern(match, hosts) }));
  });
}

/** Names of a domain that fills patterns by itself stay apart from the others: there the domain is written once. */
function byDomain(names: readonly Name[]): readonly (readonly Name[])[] {
  const domains = Map.groupBy(names, ({ host }) => host.split('.').slice(1).slice(-2).join('.'));
  const { large = [], small = [] } = Object.groupBy([...domains.keys()].sort(compareText), (domain) =>
    sizeOf(domains.get(domain) ?? []) > patternBytes / 2 ? 'large' : 'small',
  );
  const rest = new Set(small);
  const others = names.filter(({ host }) => rest.has(host.split('.').slice(1).slice(-2).join('.')));
  return [...large.map((domain) => domains.get(domain) ?? []), ...(others.length === 0 ? [] : [others])];
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
  if (sizeOf(names) <= patternBytes || names.length === 1) {
    return [names.map(({ host }) => host)];
  }
  const third = Math.floor(names.length / 3);
  const middle = names.slice(third, names.length - third);
  const least = middle.reduce((best, name) => (name.hash < best.hash ? name : best));
  const at = Math.max(1, names.indexOf(least, third));
  return [...cut(names.slice(0, at)), ...cut(names.slice(at))];
}

/** Bytes that the names take in one pattern. */
function sizeOf(names: readonly Name[]): number {
  const shared = escaped(commonDomain(names.map(({ host }) => host))).length;
  return names.reduce((sum, { bytes }) => sum + bytes - shared, shared);
}

/** What all names end in, with the dot before it; every name has more than that. */
function commonDomain([first = '', ...names]: readonly string[]): string {
  let from = names.length === 0 ? -1 : first.indexOf('.');
  while (from >= 0 && !names.every((name) => name.endsWith(first.slice(from)))) {
    from = first.indexOf('.', from + 1);
  }
  return from < 0 ? '' : first.slice(from);
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}

function nameOf(host: string): Name {
  return { host, bytes: escaped(host).length + 1, hash: stableHash(host) };
}

/**
 * Sorted names let Go share their common beginnings; what they end in is written once. Less text means fewer patterns, and
 * their number is what a question costs.
 */
function pattern(match: Match, hosts: readonly string[]): string {
  const domain = commonDomain(hosts);
  const names = hosts.map((host) => escaped(host.slice(0, host.length - domain.length)));
  const [only = ''] = names;
  return `^${prefixes[match]}${names.length === 1 ? only : `(?:${names.join('|')})`}${escaped(domain)}\\.$`;
}
