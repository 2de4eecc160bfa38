import { compareText } from '../../lib/base/order.ts';
import { hostKey, type Host, type Match, type Rule } from './rule.ts';

/** An object's wish that a host lead somewhere. */
export interface Claim extends Host {
  /** `Ingress/shop/web`. */
  readonly source: string;
  /** Position among all mappings: decides the target, and between two classes. */
  readonly mapping: number;
  readonly priority: number;
  /** Of the object, in seconds since the epoch. */
  readonly created: number;
}

/** Higher priority, then the earlier mapping, then the older object, then its name: a total order of any host's claims. */
function byRank(left: Claim, right: Claim): number {
  return (
    right.priority - left.priority ||
    left.mapping - right.mapping ||
    left.created - right.created ||
    compareText(left.source, right.source)
  );
}

/** The hosts that a claim is about: a wildcard of a route covers what the same of an Ingress does, and competes for it. */
export function contestedBy({ host, match }: Host): readonly string[] {
  const key = hostKey({ host, match });
  return match === 'suffix' ? [key, hostKey({ host, match: 'label' })] : [key];
}

/** All claims of each host that is claimed as such, the winner first. */
export function ranked(claims: Iterable<Claim>): ReadonlyMap<string, readonly Claim[]> {
  const hosts = Map.groupBy(claims, hostKey);
  const wide = [...hosts.values()].filter(([first]) => first?.match === 'suffix').flat();
  for (const claim of wide) {
    hosts.get(hostKey({ ...claim, match: 'label' }))?.push(claim);
  }
  for (const rivals of hosts.values()) {
    rivals.sort(byRank);
  }
  return hosts;
}

/** Where every claimed host leads: to the target of its winner, whose own rule will do where it is a wider one. */
export function rulesOf(claims: Iterable<Claim>, targets: readonly string[]): readonly Rule[] {
  return [...ranked(claims)].flatMap(([key, [winner]]) => {
    const target = winner === undefined ? undefined : targets[winner.mapping];
    return winner === undefined || target === undefined || hostKey(winner) !== key
      ? []
      : [{ host: winner.host, match: winner.match, target }];
  });
}

const letters: Readonly<Record<Match, string>> = { exact: 'e', label: 'l', suffix: 's' };
const matches: Readonly<Record<string, Match>> = { e: 'exact', l: 'label', s: 'suffix' };
const line = /^([a-z0-9.-]+) ([els]) (\d+) (-?\d+) ([0-9a-z]+) ([A-Za-z]+\/[a-z0-9-]+\/[a-z0-9.-]+)$/;

/**
 * One line for each claim, sorted: equal claims give equal bytes. Plain words between blanks, since quotes would travel
 * escaped and every byte of a shard travels with every event.
 */
export function formatClaims(claims: Iterable<Claim>): string {
  return [...claims]
    .map(
      ({ host, match, mapping, priority, created, source }) =>
        `${host} ${letters[match]} ${mapping} ${priority} ${created.toString(36)} ${source}\n`,
    )
    .sort(compareText)
    .join('');
}

/** Undefined when a line is not what `formatClaims` writes: then nothing of it is to be trusted. */
export function parseClaims(text: string): readonly Claim[] | undefined {
  const claims = text.split('\n').slice(0, -1).map(parseClaim);
  return text !== '' && !text.endsWith('\n')
    ? undefined
    : claims.every((claim) => claim !== undefined)
      ? claims
      : undefined;
}

function parseClaim(text: string): Claim | undefined {
  const [, host, letter = '', mapping, priority, created = '', source] = line.exec(text) ?? [];
  const match = matches[letter];
  return host === undefined || match === undefined || source === undefined
    ? undefined
    : {
        host,
        match,
        source,
        mapping: Number(mapping),
        priority: Number(priority),
        created: Number.parseInt(created, 36),
      };
}
