import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key pair in files, as a Secret is mounted, and what the API server must trust to believe it. */
export interface ServingCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** PEM, base64 as webhook configurations want it. */
  readonly caBundle: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Makes a self-signed certificate for one DNS name, good for an hour. */
export async function createServingCertificate(directory: string, dnsName: string): Promise<ServingCertificate> {
  const x509 = await import('@peculiar/x509'); // wants reflect-metadata loaded before it
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${dnsName.slice(0, 64)}`,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: dnsName }]),
    ],
  });
  const pem = certificate.toString('pem');
  const exported = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const certificateFile = join(directory, `${dnsName}.crt`);
  const keyFile = join(directory, `${dnsName}.key`);
  writeFileSync(certificateFile, pem);
  writeFileSync(keyFile, `-----BEGIN PRIVATE KEY-----\n${exported}\n-----END PRIVATE KEY-----\n`, { mode: 0o600 });
  return { certificateFile, keyFile, caBundle: Buffer.from(pem).toString('base64') };
}
