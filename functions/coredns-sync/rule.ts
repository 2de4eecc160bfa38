import { compareText } from '../../lib/base/order.ts';

/** Which questions a rule answers. An Ingress wildcard covers one label, one of the Gateway API one or more. */
export type Match = 'exact' | 'label' | 'suffix';

/** A name, or a pattern of names, that passed every check of `host.ts`. */
export interface Host {
  /** Lower case, A-labels, no trailing dot; without the `*.` of a wildcard. */
  readonly host: string;
  readonly match: Match;
}

/** One host and where it leads: all that rendering knows. */
export interface Rule extends Host {
  /** Fully qualified, with its trailing dot. */
  readonly target: string;
}

/** The host as people write it: `*.example.com` for both kinds of wildcard. */
export function hostText({ host, match }: Host): string {
  return match === 'exact' ? host : `*.${host}`;
}

/** Tells every host from every other; `*` and `**` can't be part of a name. */
export function hostKey({ host, match }: Host): string {
  return match === 'suffix' ? `**.${host}` : hostText({ host, match });
}

/**
 * Exact names first, then wildcards by decreasing number of labels, then by name: the first rule that matches is the one
 * that CoreDNS uses. Of two wildcards for one domain, that of a single label is the closer one.
 */
export function inOrder(left: Host, right: Host): number {
  return (
    Number(left.match !== 'exact') - Number(right.match !== 'exact') ||
    (left.match === 'exact' ? 0 : labels(right.host) - labels(left.host)) ||
    compareText(left.host, right.host) ||
    compareText(left.match, right.match)
  );
}

/** The domains that a name is in, its parent first. */
export function ancestors(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}

function labels(host: string): number {
  return host.split('.').length;
}
