import { randomBytes, webcrypto } from 'node:crypto';
import type * as x509Library from '@peculiar/x509';

/** A certificate and its private key, as PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface LeafNames {
  readonly dns: readonly string[];
  readonly ip?: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Issues a self-signed certificate authority. Its name must be unique, because clients find an issuer by name. */
export async function issueAuthority(commonName: string, validity: Validity): Promise<Issued> {
  const x509 = await library();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: `CN=${commonName}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await privatePem(keys) };
}

/** Issues a server certificate for these names, signed by the authority. */
export async function issueLeaf(authority: Issued, names: LeafNames, validity: Validity): Promise<Issued> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificate);
  const [keys, signingKey] = await Promise.all([newKeys(), readKey(authority.key)]);
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    subject: `CN=${(names.dns[0] ?? '').slice(0, 64)}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...(names.ip ?? []).map((value) => ({ type: 'ip' as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await privatePem(keys) };
}

/**
 * Loads the library when the first certificate is issued rather than at every start. It needs reflect-metadata first.
 */
async function library(): Promise<typeof x509Library> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function readKey(pem: string): Promise<webcrypto.CryptoKey> {
  const bytes = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
}

async function privatePem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
  const lines = bytes.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** Clients require a positive number. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`;
}
