import { randomBytes } from 'node:crypto';
import { issueAuthority, issueLeaf } from '../../base/x509.ts';

/** A certificate authority and a server certificate of its making, as PEM. */
export interface Certificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const day = 24 * 60 * 60 * 1000;
const names = { dns: ['localhost', 'kubernetes.default.svc'], ip: ['127.0.0.1', '::1'] };

/** Makes certificates for 127.0.0.1 and localhost, good for a year. They live in memory only. */
export async function createCertificates(now: Date): Promise<Certificates> {
  const validity = { notBefore: new Date(now.getTime() - day), notAfter: new Date(now.getTime() + 365 * day) };
  const authority = await issueAuthority(`sandbox-ca-${randomBytes(4).toString('hex')}`, validity);
  return { ca: authority.certificate, ...(await issueLeaf(authority, names, validity)) };
}

let shared: Promise<Certificates> | undefined;

/** The same for all sandboxes of a process: to issue certificates costs more than the rest of a start. */
export function sharedCertificates(): Promise<Certificates> {
  shared ??= createCertificates(new Date());
  return shared;
}
