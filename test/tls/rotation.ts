import { X509Certificate } from 'node:crypto';
import { certificatesIn, type KeyPair } from '../../lib/tls/certificate.ts';
import type { Issued } from '../../lib/base/x509.ts';
import { mintAuthority, mintPair, mountPair } from './mint.ts';
import { host, openSite, type Replica, type Site } from './site.ts';

/** A site whose certificates come from files, and the authority that signs the first one. */
export interface Rotation {
  readonly site: Site;
  readonly authority: Issued;
  readonly freshPair: (by?: Issued, days?: number) => Promise<KeyPair>;
  /** A replica with a first certificate that the cluster has trusted for long. */
  readonly settled: () => Promise<Replica>;
  readonly trustedPrints: () => string[];
}

export async function openRotation(): Promise<Rotation> {
  const site = await openSite();
  const authority = await mintAuthority(site.now());

  function freshPair(by = authority, days = 90): Promise<KeyPair> {
    return mintPair(by, { now: site.now(), host, days });
  }

  return {
    site,
    authority,
    freshPair,
    settled: async () => {
      const replica = await site.replica('files');
      mountPair(replica.directory, await freshPair());
      await replica.poll();
      site.pass(3600);
      return replica;
    },
    trustedPrints: () => certificatesIn(site.trusted(), 'caBundle').map(({ fingerprint256 }) => fingerprint256),
  };
}

export function printOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}
