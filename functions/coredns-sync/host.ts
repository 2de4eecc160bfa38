import { domainToASCII } from 'node:url';
import type { Host } from './rule.ts';

/** What may be claimed at all. Domains are lower case, without dots at their ends. */
export interface HostPolicy {
  readonly clusterDomain: string;
  /** Every configured target, fully qualified. */
  readonly targets: readonly string[];
  /** Suffixes of which a host must have one; empty allows all. */
  readonly allow: readonly string[];
  /** Suffixes that no host may have. */
  readonly exclude: readonly string[];
  /** A wildcard needs at least this many labels after its `*.`. */
  readonly minWildcardLabels: number;
}

/** Why a host is refused; a label of metrics. */
export type Refusal = 'invalid' | 'address' | 'protected' | 'broad' | 'outside';

export interface Refused {
  readonly refused: Refusal;
  /** For people. Never repeats the host: it may hold anything. */
  readonly why: string;
}

const reasons: Readonly<Record<Refusal, string>> = {
  invalid: 'not a DNS name: labels of 1 to 63 letters, digits and inner hyphens, at most 253 bytes in all',
  address: 'an IP address, not a name',
  protected: 'belongs to the cluster itself, leads to a target or covers one',
  broad: 'a wildcard of a domain with too few labels',
  outside: 'not in a domain that may be claimed',
};

const name = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const address = /^\d+(?:\.\d+){3}$/;
/** ASCII that no host has, before and after normalisation. What is not ASCII is judged by what it becomes. */
const foreign = /[^a-zA-Z0-9.*\u0080-\uffff-]/;
const nonAscii = /[\u0080-\uffff]/;
/** More characters never become 253 bytes; it also bounds the work on what nobody has checked yet. */
const longestText = 1024;
/** Names of hosts and addresses that every DNS answers by itself. */
export const reserved: readonly string[] = ['in-addr.arpa', 'ip6.arpa', 'localhost'];

/**
 * Normalises and judges a host of whatever origin. Nothing is ever escaped: what passes is made of `a-z0-9-.` alone and can
 * stand in a configuration, a pattern and a log.
 */
export function parseHost(text: string, wildcard: 'label' | 'suffix', policy: HostPolicy): Host | Refused {
  const normal = normalise(text);
  if (normal === undefined) {
    return refuse('invalid');
  }
  const host = normal.startsWith('*.')
    ? { host: normal.slice(2), match: wildcard }
    : { host: normal, match: 'exact' as const };
  const refusal = judge(host, policy);
  return refusal === undefined ? host : refuse(refusal);
}

/** A target as it is rendered: checked like a host and fully qualified. Undefined when it is no DNS name. */
export function parseTarget(text: string): string | undefined {
  const normal = normalise(text);
  return normal === undefined || !isName(normal) || address.test(normal) ? undefined : `${normal}.`;
}

export function isRefused(outcome: Host | Refused): outcome is Refused {
  return 'refused' in outcome;
}

/** Is `name` the domain or below it? */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** Does a question for `name` belong to this host? */
export function covers({ host, match }: Host, name: string): boolean {
  if (match === 'exact') {
    return name === host;
  }
  return name.endsWith(`.${host}`) && (match === 'suffix' || !name.slice(0, -host.length - 1).includes('.'));
}

function refuse(refused: Refusal): Refused {
  return { refused, why: reasons[refused] };
}

function judge(host: Host, policy: HostPolicy): Refusal | undefined {
  if (!isName(host.host)) {
    return 'invalid';
  }
  if (address.test(host.host)) {
    return 'address';
  }
  if (host.match !== 'exact' && host.host.split('.').length < policy.minWildcardLabels) {
    return 'broad';
  }
  if (isProtected(host, policy)) {
    return 'protected';
  }
  const { allow, exclude } = policy;
  const claimable = allow.length === 0 || allow.some((domain) => isWithin(host.host, domain));
  const excluded = exclude.some((domain) => isWithin(host.host, domain) || reaches(host, domain));
  return claimable && !excluded ? undefined : 'outside';
}

/**
 * A wildcard above the cluster domain would take the cluster's own names, and one above a target would lead the target to
 * itself: both are as wrong as the protected name itself.
 */
function isProtected(host: Host, { clusterDomain, targets }: HostPolicy): boolean {
  const zones = [clusterDomain, ...reserved];
  return (
    zones.some((zone) => isWithin(host.host, zone) || reaches(host, zone)) ||
    targets.some((target) => covers(host, target.replace(/\.$/, '')))
  );
}

/** Does the wildcard cover the zone or, having the meaning of a suffix, something below it? */
function reaches(host: Host, zone: string): boolean {
  return host.match !== 'exact' && covers(host, zone);
}

function isName(text: string): boolean {
  return text.length <= 253 && name.test(text);
}

/** Undefined when it can't become a name. Pure ASCII never meets the IDNA code, which would read `1.2` as an address. */
function normalise(text: string): string | undefined {
  if (text.length > longestText) {
    return undefined;
  }
  const trimmed = text.replace(/^ +| +$/g, '').replace(/\.$/, '');
  if (foreign.test(trimmed)) {
    return undefined;
  }
  if (!nonAscii.test(trimmed)) {
    return trimmed.toLowerCase();
  }
  const star = trimmed.startsWith('*.') ? '*.' : '';
  // the last label decides whether a host parser looks for an address: give it one that is none
  const ascii = domainToASCII(`${trimmed.slice(star.length)}.x`);
  return ascii.endsWith('.x') ? `${star}${ascii.slice(0, -2)}` : undefined;
}
