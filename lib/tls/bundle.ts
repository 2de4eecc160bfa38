import type { X509Certificate } from 'node:crypto';
import { certificatesIn, fingerprint, sameCertificate, Unfit } from './certificate.ts';

/** When each of our certificate authorities was first published, by fingerprint. */
export type Record = ReadonlyMap<string, Date>;

export interface BundleWish {
  readonly now: Date;
  /** Authorities that must be trusted. */
  readonly wanted: readonly X509Certificate[];
  /** Whether an authority that is not wanted may be removed; expired ones always may. */
  readonly mayRetire: (authority: X509Certificate) => boolean;
  readonly record: Record;
}

/** More authorities of ours than this mean that rotations are faster than retirements. */
const mostOfOurs = 5;

/**
 * What a webhook should trust, given what it trusts now: everything that is still needed stays, and the newest comes
 * first. `undefined` if the webhook already trusts exactly that, in any order.
 */
export function mergedBundle(current: readonly X509Certificate[], wish: BundleWish): X509Certificate[] | undefined {
  const { now, wanted, mayRetire, record } = wish;
  const kept = current.filter(
    (one) =>
      wanted.some((other) => sameCertificate(one, other)) ||
      (one.validToDate > now && !(record.has(fingerprint(one)) && mayRetire(one))),
  );
  const added = wanted.filter((one) => one.validToDate > now && !kept.some((other) => sameCertificate(one, other)));
  const surplus = surplusOf([...added, ...kept], wish);
  const merged = distinct([...added, ...kept].filter((one) => !surplus.includes(one))).toSorted(newestFirst);
  return merged.length === current.length && added.length === 0 ? undefined : merged;
}

/** The oldest of our authorities beyond the limit, but none that is wanted. */
function surplusOf(all: readonly X509Certificate[], { wanted, record }: BundleWish): readonly X509Certificate[] {
  const ours = all.filter((one) => record.has(fingerprint(one)) || wanted.some((other) => sameCertificate(one, other)));
  return ours
    .toSorted(newestFirst)
    .slice(mostOfOurs)
    .filter((one) => !wanted.some((other) => sameCertificate(one, other)));
}

function newestFirst(one: X509Certificate, other: X509Certificate): number {
  return other.validFromDate.getTime() - one.validFromDate.getTime();
}

function distinct(certificates: readonly X509Certificate[]): X509Certificate[] {
  return [...new Map(certificates.map((one) => [one.fingerprint256, one])).values()];
}

/** The `caBundle` of a webhook: PEM as base64. */
export function encodeBundle(certificates: readonly X509Certificate[]): string {
  return Buffer.from(certificates.map(String).join('')).toString('base64');
}

/** Unreadable certificates are left out, because no client trusts them. */
export function decodeBundle(caBundle: string | undefined): X509Certificate[] {
  try {
    return certificatesIn(Buffer.from(caBundle ?? '', 'base64').toString(), 'caBundle');
  } catch (error) {
    if (error instanceof Unfit) {
      return [];
    }
    throw error;
  }
}
