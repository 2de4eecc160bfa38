import type { Claim } from '../claim.ts';
import type { SourceRecords } from '../state/record.ts';
import { hostKey } from '../rule.ts';
import type { Wanted } from './wanted.ts';

/** What was known of objects before they were listed. */
export interface Known {
  readonly records: SourceRecords;
  /** By `Ingress/shop/web`. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

export function knownFrom(records: SourceRecords, claims: readonly Claim[]): Known {
  return { records, claims: Map.groupBy(claims, ({ source }) => source) };
}

/**
 * An object that is as it was keeps what was known of it, and nothing of the list that it came in: a pass over many such
 * objects would otherwise hold everything twice. There is nothing to tell about it.
 */
export function inPlaceOf(wanted: Wanted, known: Known): Wanted {
  const record = known.records.get(wanted.source);
  const claims = known.claims.get(wanted.source) ?? [];
  return record?.digest === wanted.record?.digest && areSame(claims, wanted.claims)
    ? { ...wanted, source: record?.source ?? wanted.source, about: undefined, claims, record }
    : wanted;
}

/** A record may be older than the claims: who wrote those may have died before it came to the record. */
function areSame(known: readonly Claim[], claims: readonly Claim[]): boolean {
  if (known.length !== claims.length) {
    return false;
  }
  // Nearly all have one order; the map is for vast objects with another, where each would look through all.
  if (claims.every((claim, index) => isSame(known[index], claim))) {
    return true;
  }
  const byHost = new Map(known.map((claim) => [hostKey(claim), claim]));
  return claims.every((claim) => isSame(byHost.get(hostKey(claim)), claim));
}

function isSame(known: Claim | undefined, claim: Claim): boolean {
  return (
    known !== undefined &&
    hostKey(known) === hostKey(claim) &&
    known.mapping === claim.mapping &&
    known.priority === claim.priority &&
    known.created === claim.created
  );
}
