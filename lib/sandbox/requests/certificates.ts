import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';

/** A certificate authority and a server certificate of its making, as PEM. */
export interface Certificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 24 * 60 * 60 * 1000;

/** Makes certificates for 127.0.0.1, localhost and further names, good for a year. They live in memory only. */
export async function createCertificates(now: Date, names: readonly string[] = []): Promise<Certificates> {
  const x509 = await import('@peculiar/x509');
  const validity = { notBefore: new Date(now.getTime() - day), notAfter: new Date(now.getTime() + 365 * day) };
  const [caKeys, keys] = await Promise.all([keyPair(), keyPair()]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: 'CN=sandbox-ca',
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    subject: 'CN=sandbox',
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
        { type: 'dns', value: 'localhost' },
        { type: 'dns', value: 'kubernetes.default.svc' },
        ...names.map((value) => ({ type: 'dns' as const, value })),
      ]),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { ca: ca.toString('pem'), certificate: certificate.toString('pem'), key: pem('PRIVATE KEY', key) };
}

async function keyPair(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Positive, as clients demand. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`;
}

function pem(label: string, bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
