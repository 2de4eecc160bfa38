import { digest } from '../base/digest.ts';
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** The three files of a certificate Secret, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A key pair that passed `examine`. */
export interface Generation extends KeyPair {
  readonly digest: string;
  readonly leaf: X509Certificate;
  /** The certificates of `ca`. */
  readonly authorities: readonly X509Certificate[];
  /** The certificate that vouches for the leaf; the leaf itself if it is self-signed. */
  readonly authority: X509Certificate;
}

/** Why a key pair cannot be used. */
export class Unfit extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unfit';
  }
}

export interface Wanted {
  readonly now: Date;
  /** The name that the API server checks: `<service>.<namespace>.svc`. */
  readonly host: string;
}

const serverAuthentication = '1.3.6.1.5.5.7.3.1';

/** Changes whenever one of the three files changes. */
export function digestOf({ cert, key, ca }: KeyPair): string {
  return digest([cert, key, ca].join('\0'));
}

/** Parses and checks a key pair. Throws `Unfit` if clients would not accept it. */
export function examine(pair: KeyPair, { now, host }: Wanted): Generation {
  const chain = certificatesIn(pair.cert, 'tls.crt');
  const authorities = certificatesIn(pair.ca, 'ca.crt');
  const [leaf] = chain;
  if (leaf === undefined || authorities.length === 0) {
    throw new Unfit(`${leaf === undefined ? 'tls.crt' : 'ca.crt'} holds no certificate`);
  }
  if (!matches(leaf, pair.key)) {
    throw new Unfit('tls.key is not the key of the certificate in tls.crt');
  }
  if (!isValidAt(leaf, now)) {
    throw new Unfit(`the certificate is valid only from ${leaf.validFrom} to ${leaf.validTo}`);
  }
  if (leaf.checkHost(host) === undefined) {
    throw new Unfit(`the certificate is not for ${host}`);
  }
  // The type hides that a certificate may have no usages.
  const usages = leaf.keyUsage as string[] | undefined;
  if (usages?.includes(serverAuthentication) === false) {
    throw new Unfit('the certificate is not for servers (extended key usage)');
  }
  const authority = authorityOf(chain, authorities);
  if (authority === undefined) {
    throw new Unfit('no certificate in ca.crt vouches for the one in tls.crt');
  }
  return { ...pair, digest: digestOf(pair), leaf, authorities, authority };
}

/** All certificates of a PEM text; throws `Unfit` if one cannot be read. */
export function certificatesIn(pem: string, what: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Unfit(`${what} holds something that is not a certificate`);
  }
}

export function isValidAt({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  return validFromDate <= now && now < validToDate;
}

/** Short enough for an annotation, long enough to be unique. */
export function fingerprint({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase().slice(0, 32);
}

export function sameCertificate(one: X509Certificate, other: X509Certificate): boolean {
  return one.fingerprint256 === other.fingerprint256;
}

/** Follows the chain from the leaf to a certificate that a client trusts. */
function authorityOf(
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): X509Certificate | undefined {
  let [last] = chain;
  for (let length = 0; last !== undefined && length <= chain.length; length += 1) {
    const current = last;
    const trusted = authorities.find((authority) => sameCertificate(authority, current) || issued(authority, current));
    if (trusted !== undefined) {
      return trusted;
    }
    last = chain.find((candidate) => !sameCertificate(candidate, current) && issued(candidate, current));
  }
  return undefined;
}

function issued(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function matches(leaf: X509Certificate, key: string): boolean {
  try {
    return leaf.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new Unfit('tls.key holds no private key');
  }
}
